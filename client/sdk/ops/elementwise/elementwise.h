// Arithmetic, one element of the result from one element of each operand. The
// functions of mathematics are in math.h, bits and truth values in logic.h.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_ELEMENTWISE_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_ELEMENTWISE_H_

#include <cstdint>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"

namespace hawser {

// Here and in math.h, logic.h and compare.h, "operands" are tensors of any
// shapes that broadcast (NumPy's rule), or C++ numbers. Two dtypes promote as
// in Nx; a number takes the tensor's dtype within its kind; bool counts as u8
// in arithmetic. Under Errors, which are all sticky, "as usual" means
// kInvalidArgument for sizes that do not broadcast, an integer number that does
// not fit the dtype, a dtype the function is not defined for.

// ---- one operand -----------------------------------------------------------

// -x. x: an operand of numbers. Result: x's shape and dtype; unsigned integers
// wrap. Errors: as usual. Grad: -g. Source: StableHLO negate; Nx negate.
Tensor Negate(const Operand& x);

// The magnitude. x: an operand of numbers. Result: x's shape and dtype, of a
// complex x the component's; the lowest signed integer stays. Errors: as usual.
// Grad: by the sign, 1 at 0; of a complex x 0 at 0. Source: StableHLO abs; Nx
// abs.
Tensor Abs(const Operand& x);

// -1, 0 or 1. x: an operand of numbers. Result: x's shape and dtype; keeps -0
// and NaN; x / |x| of a complex x. Errors: as usual. Grad: zero. Source:
// StableHLO sign.
Tensor Sign(const Operand& x);

// x * x. x: an operand of numbers. Result: x's shape and dtype. Errors: as
// usual. Grad: 2x g. Source: NumPy square.
Tensor Square(const Operand& x);

// The largest whole number not above x. x: an operand of reals. Result: x's
// shape and dtype, integers unchanged. Errors: as usual; complex. Grad: zero.
// Source: StableHLO floor; Nx floor.
Tensor Floor(const Operand& x);

// The smallest whole number not below x. x: an operand of reals. Result: x's
// shape and dtype, integers unchanged. Errors: as usual; complex. Grad: zero.
// Source: StableHLO ceil; Nx ceil.
Tensor Ceil(const Operand& x);

// The nearest whole number, halves away from zero. x: an operand of reals.
// Result: x's shape and dtype, integers unchanged. Errors: as usual; complex.
// Grad: zero. Source: Nx round; StableHLO round_nearest_afz.
Tensor Round(const Operand& x);

// The nearest whole number, halves to the even neighbour. x: an operand of
// reals. Result: x's shape and dtype, integers unchanged. Errors: as usual;
// complex. Grad: zero. Source: StableHLO round_nearest_even.
Tensor RoundEven(const Operand& x);

// The real part. x: an operand of numbers. Result: x's shape and the
// component's dtype; a real x itself, integers as f32. Errors: as usual. Grad:
// to the real part. Source: StableHLO real; Nx real.
Tensor Real(const Operand& x);

// The imaginary part. x: an operand of numbers. Result: x's shape and the
// component's dtype; zeros of a real x. Errors: as usual. Grad: to the
// imaginary part. Source: StableHLO imag; Nx imag.
Tensor Imag(const Operand& x);

// The same number as a float of so many bits would hold it, to nearest even. x:
// an operand of floats. exponent_bits: 1 or more; mantissa_bits: 0 or more.
// Result: x's shape and dtype; infinite beyond the largest of such floats, 0
// below their smallest normal one, NaN stays. Errors: as usual; other dtypes.
// Grad: g, rounded likewise. Source: StableHLO reduce_precision.
Tensor ReducePrecision(const Operand& x, int64_t exponent_bits,
                       int64_t mantissa_bits);

// ---- two and three operands ------------------------------------------------

// a + b. a, b: operands of numbers. Result: the broadcast shape, the promoted
// dtype; integers wrap. Errors: as usual. Grad: g, g. Source: StableHLO add; Nx
// add.
Tensor Add(const Operand& a, const Operand& b);

// a - b. a, b: operands of numbers. Result: the broadcast shape, the promoted
// dtype; integers wrap. Errors: as usual. Grad: g, -g. Source: StableHLO
// subtract; Nx subtract.
Tensor Subtract(const Operand& a, const Operand& b);

// a * b. a, b: operands of numbers. Result: the broadcast shape, the promoted
// dtype; integers wrap. Errors: as usual. Grad: b g, a g. Source: StableHLO
// multiply; Nx multiply.
Tensor Multiply(const Operand& a, const Operand& b);

// a / b. a, b: operands of numbers. Result: the broadcast shape, the promoted
// dtype, f32 of two integers; x / 0 is IEEE's. Errors: as usual. Grad: g / b,
// -a g / b^2. Source: StableHLO divide; Nx divide.
Tensor Divide(const Operand& a, const Operand& b);

// a / b towards zero. a, b: operands of integers. Result: the broadcast shape,
// the promoted dtype; x / 0 is all ones, MIN / -1 is MIN. Errors: as usual;
// floats. Grad: refused. Source: Nx quotient; corners house, section 9.
Tensor Quotient(const Operand& a, const Operand& b);

// Returns the remainder of a / b rounded towards zero; it has the sign of a. a,
// b: operands of reals. Result: the broadcast shape, the promoted dtype;
// integer x % 0 is x. Errors: as usual; complex. Grad: g, -trunc(a / b) g.
// Source: StableHLO remainder; Nx remainder.
Tensor Remainder(const Operand& a, const Operand& b);

// a to the power b. a, b: operands of numbers. Result: the broadcast shape, the
// promoted dtype; integers exact, then wrapped, a negative exponent gives 0 or
// +-1. Errors: as usual. Grad: b a^(b-1) g, log(a) a^b g. Source: StableHLO
// power; Nx pow.
Tensor Power(const Operand& a, const Operand& b);

// The angle of the point (b, a), in [-pi, pi]. a, b: operands of reals. Result:
// the broadcast shape, the promoted dtype, f32 of two integers. Errors: as
// usual; complex. Grad: b g / (a^2 + b^2), -a g / (a^2 + b^2). Source:
// StableHLO atan2; Nx atan2.
Tensor Atan2(const Operand& a, const Operand& b);

// The float next to `from` on the way to `to`. from, to: operands of reals.
// Result: the broadcast shape, the promoted dtype, f32 of two integers; `to`
// where both are equal. Errors: as usual; complex. Grad: zero. Source: CHLO
// next_after; C nextafter.
Tensor NextAfter(const Operand& from, const Operand& to);

// The larger one. a, b: operands of reals or bool, which stays. Result: the
// broadcast shape, the promoted dtype; NaN wins. Errors: as usual; complex.
// Grad: to the larger, half to each where they are equal. Source: StableHLO
// maximum; Nx max.
Tensor Maximum(const Operand& a, const Operand& b);

// The smaller one. a, b: operands of reals or bool, which stays. Result: the
// broadcast shape, the promoted dtype; NaN wins. Errors: as usual; complex.
// Grad: to the smaller, half to each where they are equal. Source: StableHLO
// minimum; Nx min.
Tensor Minimum(const Operand& a, const Operand& b);

// min(max(x, low), high), so high wins where low is above it. x, low, high:
// operands of reals or bool, which stays. Result: the broadcast shape, the
// promoted dtype of all three. Errors: as usual; complex. Grad: to x where it
// is between or at the limits, else to the limit. Source: StableHLO clamp; Nx
// clip.
Tensor Clip(const Operand& x, const Operand& low, const Operand& high);

// The complex number re + i im. re, im: operands of reals. Result: the
// broadcast shape; c128 where f64 takes part, else c64. Errors: as usual; f16,
// bf16, complex. Grad: its parts. Source: StableHLO complex; Nx complex.
Tensor Complex(const Operand& re, const Operand& im);

// ---- dtypes ----------------------------------------------------------------

// The same numbers in another dtype. x: an operand. dtype: any. Result: x's
// shape; integers wrap, float to integer truncates and saturates (NaN gives 0),
// to bool is x != 0, from complex else takes the real part. Errors: as usual.
// Grad: converted back. Source: StableHLO convert; Nx as_type; corners house,
// section 9.
Tensor Convert(const Operand& x, DType dtype);

// The same bits as another dtype. x: an operand. dtype: any; a bool is one bit.
// Result: x's shape; narrower elements lie along a new last axis, the lowest
// bits first, and wider ones are made of the last axis, which vanishes. Errors:
// between real and complex; a last axis that is not one wider element. Grad:
// refused. Source: StableHLO bitcast_convert; Nx bitcast.
Tensor Bitcast(const Operand& x, DType dtype);

// ---- operators: the functions above ---------------------------------------

inline Tensor operator+(const Operand& a, const Operand& b) {
  return Add(a, b);
}
inline Tensor operator-(const Operand& a, const Operand& b) {
  return Subtract(a, b);
}
inline Tensor operator*(const Operand& a, const Operand& b) {
  return Multiply(a, b);
}
inline Tensor operator/(const Operand& a, const Operand& b) {
  return Divide(a, b);
}
inline Tensor operator%(const Operand& a, const Operand& b) {
  return Remainder(a, b);
}
inline Tensor operator-(const Operand& x) { return Negate(x); }
inline Tensor& operator+=(Tensor& a, const Operand& b) {
  return a = Add(Operand(a, b.where()), b);
}
inline Tensor& operator-=(Tensor& a, const Operand& b) {
  return a = Subtract(Operand(a, b.where()), b);
}
inline Tensor& operator*=(Tensor& a, const Operand& b) {
  return a = Multiply(Operand(a, b.where()), b);
}
inline Tensor& operator/=(Tensor& a, const Operand& b) {
  return a = Divide(Operand(a, b.where()), b);
}
inline Tensor& operator%=(Tensor& a, const Operand& b) {
  return a = Remainder(Operand(a, b.where()), b);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_ELEMENTWISE_H_
