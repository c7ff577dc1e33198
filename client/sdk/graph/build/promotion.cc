#include "client/sdk/graph/build/promotion.h"

#include <algorithm>

#include "core/base/status.h"

namespace hawser::sdk {
namespace {

constexpr DType kUnsignedBySize[] = {DType::kU8, DType::kU16, DType::kU32,
                                     DType::kU64};
constexpr DType kSignedBySize[] = {DType::kS8, DType::kS16, DType::kS32,
                                   DType::kS64};

DType OfWidth(const DType (&by_size)[4], int bits) {
  int i = 0;
  while (i < 3 && (8 << i) < bits) ++i;
  return by_size[i];
}

bool IsDouble(DType d) { return d == DType::kF64 || d == DType::kC128; }

// bf16 ranks below every other float, whatever its width.
int FloatRank(DType d) { return d == DType::kBF16 ? 0 : BitWidth(d); }

DType PromoteIntegers(DType a, DType b) {
  if (IsUnsigned(a) == IsUnsigned(b)) return BitWidth(a) >= BitWidth(b) ? a : b;
  if (IsSigned(a)) std::swap(a, b);  // a is unsigned, b signed
  return OfWidth(kSignedBySize, std::max(std::min(2 * BitWidth(a), 64),
                                         BitWidth(b)));
}

}  // namespace

DType ToNumeric(DType d) { return IsBool(d) ? DType::kU8 : d; }

DType ToFloating(DType d) {
  return IsBool(d) || IsInteger(d) ? DType::kF32 : d;
}

DType ToAccurate(DType d) {
  return BitWidth(d) == 16 && IsFloat(d) ? DType::kF32 : d;
}

DType ToAggregate(DType d) {
  d = ToNumeric(d);
  if (!IsInteger(d)) return d;
  const int bits = std::max(BitWidth(d), 32);
  return IsUnsigned(d) ? OfWidth(kUnsignedBySize, bits)
                       : OfWidth(kSignedBySize, bits);
}

DType Promote(DType a, DType b) {
  if (a == b) return a;
  a = ToNumeric(a);
  b = ToNumeric(b);
  if (IsComplex(a) || IsComplex(b)) {
    return IsDouble(a) || IsDouble(b) ? DType::kC128 : DType::kC64;
  }
  if (IsFloat(a) && IsFloat(b)) return FloatRank(a) >= FloatRank(b) ? a : b;
  if (IsFloat(a)) return a;
  if (IsFloat(b)) return b;
  return PromoteIntegers(a, b);
}

DType PromoteWeak(DType tensor, Number::Kind number) {
  const bool inexact = IsFloat(tensor) || IsComplex(tensor);
  switch (number) {
    case Number::Kind::kBool:
      return tensor;
    case Number::Kind::kInteger:
      return ToNumeric(tensor);
    case Number::Kind::kFloat:
      return inexact ? tensor : DType::kF32;
    case Number::Kind::kComplex:
      return IsDouble(tensor) ? DType::kC128 : DType::kC64;
  }
  return tensor;
}

absl::StatusOr<Dims> BroadcastDims(absl::Span<const int64_t> a,
                                   absl::Span<const int64_t> b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t back = 1; back <= out.size(); ++back) {
    const int64_t x = back <= a.size() ? a[a.size() - back] : 1;
    const int64_t y = back <= b.size() ? b[b.size() - back] : 1;
    if (x != y && x != 1 && y != 1) {
      return InvalidArgument("sizes ", DimsToString(a), " and ",
                             DimsToString(b), " do not broadcast");
    }
    out[out.size() - back] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace hawser::sdk
