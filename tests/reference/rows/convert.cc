// Changes of dtype.
#include "core/ops/elementwise/convert.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "tests/reference/rows/row.h"

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
  if (IsBool(to)) return Number::Of(uint64_t{x.value.real() != 0.0});
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

// Bits in the order of elements, the lowest of each first.
bool BitOf(const Literal& x, int64_t bit) {
  const int width = BitsOfElement(x.shape().dtype());
  const int64_t bytes = ByteWidth(x.shape().dtype());
  const int64_t within = bit % width;
  const char byte = x.bytes()[bit / width * bytes + within / 8];
  return (byte >> (within % 8) & 1) != 0;
}

absl::StatusOr<Values> BitcastConvert(const Context& c) {
  const Shape& shape = c.result_shape();
  const int width = BitsOfElement(shape.dtype());
  const int64_t bytes = ByteWidth(shape.dtype());
  Literal out = Literal::Zeros(shape);
  for (int64_t bit = 0; bit < shape.num_elements() * width; ++bit) {
    if (!BitOf(c.operands[0], bit)) continue;
    const int64_t within = bit % width;
    out.mutable_bytes()[bit / width * bytes + within / 8] |=
        static_cast<char>(1 << within % 8);
  }
  return Values{std::move(out)};
}

constexpr Row kConvertRows[] = {
    {&kConvert, Convert},
    {&kBitcastConvert, BitcastConvert},
};

}  // namespace

absl::Span<const Row> ConvertRows() { return kConvertRows; }

}  // namespace hawser::reference
