#include "core/base/values/dtype.h"

#include <array>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using K = DTypeKind;
constexpr std::array<DTypeInfo, kNumDTypes> kInfo = {{
    {"invalid", K::kInvalid, 0, false}, {"bool", K::kBool, 8, true},
    {"u2", K::kUnsigned, 2, false},     {"u4", K::kUnsigned, 4, false},
    {"u8", K::kUnsigned, 8, true},      {"u16", K::kUnsigned, 16, true},
    {"u32", K::kUnsigned, 32, true},    {"u64", K::kUnsigned, 64, true},
    {"s2", K::kSigned, 2, false},       {"s4", K::kSigned, 4, false},
    {"s8", K::kSigned, 8, true},        {"s16", K::kSigned, 16, true},
    {"s32", K::kSigned, 32, true},      {"s64", K::kSigned, 64, true},
    {"f8", K::kFloat, 8, false},        {"f8_e4m3fn", K::kFloat, 8, false},
    {"f16", K::kFloat, 16, true},       {"bf16", K::kFloat, 16, true},
    {"f32", K::kFloat, 32, true},       {"f64", K::kFloat, 64, true},
    {"c64", K::kComplex, 64, true},     {"c128", K::kComplex, 128, true},
}};

constexpr DType kSupported[] = {
    DType::kBool, DType::kU8,   DType::kU16,  DType::kU32, DType::kU64,
    DType::kS8,   DType::kS16,  DType::kS32,  DType::kS64, DType::kF16,
    DType::kBF16, DType::kF32,  DType::kF64,  DType::kC64, DType::kC128,
};

}  // namespace

const DTypeInfo& InfoOf(DType dtype) {
  const int i = static_cast<int>(dtype);
  return kInfo[i < kNumDTypes ? i : 0];
}

DType RealPart(DType d) {
  if (d == DType::kC64) return DType::kF32;
  if (d == DType::kC128) return DType::kF64;
  return d;
}

absl::StatusOr<DType> ParseDType(absl::string_view name) {
  for (int i = 1; i < kNumDTypes; ++i) {
    if (kInfo[i].name != name) continue;
    if (!kInfo[i].supported) {
      return Unimplemented("dtype ", name, " is reserved, no op has it yet");
    }
    return static_cast<DType>(i);
  }
  return InvalidArgument("unknown dtype \"", name, "\"");
}

std::ostream& operator<<(std::ostream& out, DType dtype) {
  return out << DTypeName(dtype);
}

absl::Span<const DType> AllDTypes() { return kSupported; }

std::string DTypeSet::ToString() const {
  std::string out;
  for (DType d : kSupported) {
    if (Has(d)) absl::StrAppend(&out, out.empty() ? "" : ", ", DTypeName(d));
  }
  return out;
}

void DieOnBadDType(DType dtype) {
  internal::CheckFailed(
      __FILE__, __LINE__,
      absl::StrCat("VisitDType of unsupported dtype number ",
                   static_cast<int>(dtype))
          .c_str());
}

}  // namespace hawser
