#include "core/ops/formulas/bits.h"

#include <cstdint>
#include <limits>

#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/parts.h"

namespace hawser::formulas {
namespace {

// An integer constant, every bit of which counts.
Expression Bits(const Expression& like, uint64_t bits) {
  Literal scalar = Literal::Uninitialized(Shape::Scalar(like.dtype()));
  const absl::Span<char> to = scalar.mutable_bytes();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<char>(bits >> (8 * i));
  }
  const Dims dims = like.dims();
  return Spread(ConstantOf(like.scope(), scalar), dims,
                OtherAxes(static_cast<int>(dims.size()), {}));
}

Expression As(const Expression& x, DType dtype) {
  return Apply(kBitcastConvert, {x}, {{"dtype", dtype}});
}

Expression And(const Expression& x, const Expression& y) {
  return Apply(kAnd, {x, y});
}

Expression IsNan(const Expression& x) {
  return Compare(x, CompareDirection::kNe, x);
}

}  // namespace

DType SignedOf(DType dtype) {
  switch (BitWidth(dtype)) {
    case 8:
      return DType::kS8;
    case 16:
      return DType::kS16;
    case 32:
      return DType::kS32;
    default:
      return DType::kS64;
  }
}

Expression NextAfter(const Expression& from, const Expression& to) {
  const DType dtype = from.dtype();
  const Expression x = Apply(kStopGradient, {from});
  const Expression end = Apply(kStopGradient, {to});
  const Expression bits = As(x, SignedOf(dtype));
  const Expression sign = Bits(bits, uint64_t{1} << (BitWidth(dtype) - 1));
  const Expression end_sign = And(As(end, SignedOf(dtype)), sign);
  // Away from 0 the number of a float grows, whatever its sign.
  const Expression same_side =
      Compare(And(bits, sign), CompareDirection::kEq, end_sign);
  const Expression farther = Compare(Abs(end), CompareDirection::kGt, Abs(x));
  const Expression step =
      Choose(And(same_side, farther), Like(bits, 1), Like(bits, -1));
  const Expression beside = As(bits + step, dtype);
  const Expression smallest = As(Apply(kOr, {end_sign, Bits(bits, 1)}), dtype);
  const Expression zero = Compare(x, CompareDirection::kEq, Like(x, 0));
  const Expression equal = Compare(x, CompareDirection::kEq, end);
  const Expression none = Like(x, std::numeric_limits<double>::quiet_NaN());
  return Choose(Apply(kOr, {IsNan(x), IsNan(end)}), none,
                Choose(equal, end, Choose(zero, smallest, beside)));
}

}  // namespace hawser::formulas
