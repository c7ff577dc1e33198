#include "client/stablehlo/compositions/bits.h"

#include <cstdint>
#include <limits>

#include "client/stablehlo/compositions/compositions.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::stablehlo {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An unsigned constant, every bit of which counts.
Expression Bits(const Expression& like, uint64_t bits) {
  Literal scalar = Literal::Uninitialized(Shape::Scalar(like.dtype()));
  const absl::Span<char> to = scalar.mutable_bytes();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<char>(bits >> (8 * i));
  }
  const Expression one = ConstantOf(like.scope(), scalar);
  Dims axes(static_cast<size_t>(like.rank()));
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  return Spread(one, like.dims(), axes);
}

Expression As(const Expression& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return Apply(kBitcastConvert, {x}, {{"dtype", dtype}});
}

Expression And(const Expression& x, const Expression& y) {
  return Apply(kAnd, {x, y});
}

Expression ShiftedRight(const Expression& x, int by) {
  return Apply(kShiftRightLogical, {x, Bits(x, static_cast<uint64_t>(by))});
}

int MantissaBits(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return 10;
    case DType::kBF16:
      return 7;
    case DType::kF32:
      return 23;
    default:
      return 52;
  }
}

uint64_t Ones(int count) {
  return count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Bits of a float rounded to nearest even so that `dropped` low ones are 0.
Expression Rounded(const Expression& bits, int dropped) {
  const Expression last = And(ShiftedRight(bits, dropped), Bits(bits, 1));
  const Expression bias = last + Bits(bits, Ones(dropped - 1));
  return And(bits + bias, Bits(bits, ~Ones(dropped)));
}

}  // namespace

DType UnsignedOf(DType dtype) {
  switch (BitWidth(dtype)) {
    case 8:
      return DType::kU8;
    case 16:
      return DType::kU16;
    case 32:
      return DType::kU32;
    default:
      return DType::kU64;
  }
}

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

// Sums of pairs, of fours, of bytes, and then of wider fields.
Expression PopulationCount(const Expression& x) {
  const int width = BitWidth(x.dtype());
  Expression sums = As(x, UnsignedOf(x.dtype()));
  for (int field = 1; field < width; field *= 2) {
    const uint64_t mask = ~uint64_t{0} / Ones(2 * field) * Ones(field);
    const Expression masked = Bits(sums, mask);
    sums = And(sums, masked) + And(ShiftedRight(sums, field), masked);
  }
  return As(sums, x.dtype());
}

Expression RoundAwayFromZero(const Expression& x) {
  const Expression a = Unary(kAbs, x);
  const Expression below = Unary(kFloor, a);
  const Expression up = Compare(a - below, CompareDirection::kGe, Like(x, 0.5));
  return Unary(kSign, x) * Choose(up, below + 1, below);
}

Expression NextAfter(const Expression& from, const Expression& to) {
  const DType dtype = from.dtype();
  const DType integer = SignedOf(dtype);
  const Expression bits = As(from, integer);
  const uint64_t sign = uint64_t{1} << (BitWidth(dtype) - 1);
  const Expression size = Unary(kAbs, from);
  const Expression zero = Compare(from, CompareDirection::kEq, Like(from, 0));
  // Away from 0 the number of a float grows, whatever its sign.
  const Expression same_side =
      Compare(And(bits, Bits(bits, sign)), CompareDirection::kEq,
              And(As(to, integer), Bits(bits, sign)));
  const Expression farther =
      Compare(Unary(kAbs, to), CompareDirection::kGt, size);
  const Expression grows = And(same_side, farther);
  const Expression beside =
      As(bits + Choose(grows, Like(bits, 1), Like(bits, -1)), dtype);
  const Expression smallest =
      As(Apply(kOr, {And(As(to, integer), Bits(bits, sign)), Bits(bits, 1)}),
         dtype);
  const Expression equal = Compare(from, CompareDirection::kEq, to);
  const Expression sum = from + to;
  const Expression is_nan = Compare(sum, CompareDirection::kNe, sum);
  const Expression either_nan =
      Apply(kOr, {Compare(from, CompareDirection::kNe, from),
                  Compare(to, CompareDirection::kNe, to)});
  return Choose(And(is_nan, either_nan), Like(from, kNan),
                Choose(equal, to, Choose(zero, smallest, beside)));
}

Expression ReducePrecision(const Expression& x, int exponent_bits,
                           int mantissa_bits) {
  const DType dtype = x.dtype();
  const int width = BitWidth(dtype), mantissa = MantissaBits(dtype);
  const int exponent = width - 1 - mantissa;
  Expression bits = As(x, UnsignedOf(dtype));
  const uint64_t sign = uint64_t{1} << (width - 1);
  const Expression signs = And(bits, Bits(bits, sign));
  if (mantissa_bits < mantissa) {
    bits = Rounded(bits, mantissa - mantissa_bits);
  }
  if (exponent_bits < exponent) {
    const uint64_t bias = Ones(exponent - 1);
    const uint64_t reach = Ones(exponent_bits - 1);
    const Expression size = And(bits, Bits(bits, Ones(exponent) << mantissa));
    const Expression over = Compare(size, CompareDirection::kGt,
                                    Bits(bits, (bias + reach) << mantissa));
    const Expression under = Compare(size, CompareDirection::kLe,
                                     Bits(bits, (bias - reach) << mantissa));
    const Expression infinite =
        Apply(kOr, {signs, Bits(bits, Ones(exponent) << mantissa)});
    bits = Choose(over, infinite, Choose(under, signs, bits));
  }
  const Expression is_nan = Compare(x, CompareDirection::kNe, x);
  return Choose(is_nan, x, As(bits, dtype));
}

}  // namespace hawser::stablehlo
