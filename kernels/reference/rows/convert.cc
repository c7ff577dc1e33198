// Changes of dtype.
#include "core/ops/elementwise/convert.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "kernels/reference/rows/row.h"

namespace hawser::reference {
namespace {

// Towards 0, to the nearest that the dtype has; NaN: 0.
uint64_t Saturated(double x, DType to) {
  if (std::isnan(x)) return 0;
  const Wide whole = std::trunc(static_cast<Wide>(x));
  const int bits = BitWidth(to) - (IsSigned(to) ? 1 : 0);
  const Wide limit = std::ldexp(Wide{1}, bits);
  const Wide least = IsSigned(to) ? -limit : Wide{0};
  if (whole < least) return static_cast<uint64_t>(static_cast<int64_t>(least));
  if (whole >= limit) return ~uint64_t{0} >> (64 - bits);
  return whole < 0 ? static_cast<uint64_t>(static_cast<int64_t>(whole))
                   : static_cast<uint64_t>(whole);
}

Number Converted(const Number& x, DType from, DType to) {
  if (IsInteger(from) || IsBool(from)) {
    if (IsInteger(to) || IsBool(to)) return x;
    const Wide value =
        IsSigned(from) ? Wide(static_cast<int64_t>(x.bits)) : Wide(x.bits);
    return InDType(WideComplex(value), to);
  }
  if (IsBool(to)) return Number::Of(uint64_t{x.value != 0.0});
  if (IsInteger(to)) return Number::Of(Saturated(x.value.real(), to));
  return x;
}

absl::StatusOr<Values> Convert(const Context& c) {
  const DType from = c.shape(0).dtype(), to = c.result_shape().dtype();
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByPlace(c, c.result_shape(), [&](int64_t place) {
        return Converted(ReadNumber(c.operands[0], place), from, to);
      }));
  return Values{std::move(out)};
}

absl::StatusOr<Values> BitcastConvert(const Context& c) {
  return Values{c.operands[0].Reinterpret(c.result_shape())};
}

constexpr Row kRows[] = {
    {&kConvert, Convert},
    {&kBitcastConvert, BitcastConvert},
};

}  // namespace

absl::Span<const Row> ConvertRows() { return kRows; }

}  // namespace hawser::reference
