// One element of the result from one element of each operand.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/dtype.h"

namespace hawser {

// All: operands are tensors of any shapes that broadcast (NumPy's rule), or
// C++ numbers. Two dtypes promote as in Nx; a number takes the tensor's dtype
// within its kind. bool counts as u8 in arithmetic. Errors (sticky): sizes
// that do not broadcast, an integer number that does not fit the dtype, a
// dtype the function is not defined for. Grad: that of the op of the same
// name, see core/ops/README.md. Source: Nx 0.13.1, corner cases StableHLO.

// ---- one operand; the result has its dtype -------------------------------

Tensor Negate(const Operand& x);  // -x; unsigned integers wrap
Tensor Abs(const Operand& x);     // complex: the magnitude
Tensor Sign(const Operand& x);    // -1, 0, 1; keeps -0 and NaN
Tensor Square(const Operand& x);  // x * x
Tensor Floor(const Operand& x);   // integers unchanged, as the next three
Tensor Ceil(const Operand& x);
Tensor Round(const Operand& x);      // halves away from zero
Tensor RoundEven(const Operand& x);  // halves to the even neighbour
Tensor BitwiseNot(const Operand& x);  // integers; bool: logical not

// ---- one operand; integers and bool become f32 ---------------------------

Tensor Exp(const Operand& x);
Tensor Expm1(const Operand& x);  // exp(x) - 1, exact near 0
Tensor Log(const Operand& x);    // natural
Tensor Log1p(const Operand& x);  // log(1 + x), exact near 0
Tensor Sqrt(const Operand& x);
Tensor Rsqrt(const Operand& x);    // 1 / sqrt(x)
Tensor Sigmoid(const Operand& x);  // 1 / (1 + exp(-x))
Tensor Tanh(const Operand& x);
Tensor Sin(const Operand& x);
Tensor Cos(const Operand& x);
Tensor Real(const Operand& x);  // the component's dtype; of a real: itself
Tensor Imag(const Operand& x);  // of a real: 0

// ---- one operand; the result is bool -------------------------------------

Tensor IsNan(const Operand& x);     // any component of complex
Tensor IsFinite(const Operand& x);  // neither NaN nor infinite
Tensor LogicalNot(const Operand& x);  // x == 0

// ---- two operands ---------------------------------------------------------

Tensor Add(const Operand& a, const Operand& b);  // integers wrap
Tensor Subtract(const Operand& a, const Operand& b);
Tensor Multiply(const Operand& a, const Operand& b);
Tensor Divide(const Operand& a, const Operand& b);  // integers become f32
// Integers only, towards zero; x / 0 is all ones, MIN / -1 is MIN.
Tensor Quotient(const Operand& a, const Operand& b);
// The sign of a; integer x % 0 is x.
Tensor Remainder(const Operand& a, const Operand& b);
// Integers: exact, then wrapped; a negative exponent gives 0 or +-1.
Tensor Power(const Operand& a, const Operand& b);
// Angle of the point (b, a); integers become f32.
Tensor Atan2(const Operand& a, const Operand& b);
Tensor Maximum(const Operand& a, const Operand& b);  // NaN wins; bool stays
Tensor Minimum(const Operand& a, const Operand& b);
// min(max(x, low), high), so high wins where low > high; bool stays.
Tensor Clip(const Operand& x, const Operand& low, const Operand& high);
// The complex number re + i im, of two reals.
Tensor Complex(const Operand& re, const Operand& im);

// Bit by bit: integers and bool.
Tensor BitwiseAnd(const Operand& a, const Operand& b);
Tensor BitwiseOr(const Operand& a, const Operand& b);
Tensor BitwiseXor(const Operand& a, const Operand& b);
// Integers. By at least the width, or a negative amount: 0, or all sign where
// RightShift is of a negative number.
Tensor LeftShift(const Operand& a, const Operand& b);
Tensor RightShift(const Operand& a, const Operand& b);  // keeps the sign
Tensor RightShiftLogical(const Operand& a, const Operand& b);  // fills with 0

// Non-zero (NaN too) is true; the result is bool.
Tensor LogicalAnd(const Operand& a, const Operand& b);
Tensor LogicalOr(const Operand& a, const Operand& b);
Tensor LogicalXor(const Operand& a, const Operand& b);

// ---- dtypes ---------------------------------------------------------------

// The same numbers in another dtype: integers wrap, float to integer truncates
// and saturates (NaN gives 0), to bool is x != 0, from complex takes the real
// part. Source: house, section 9.
Tensor Convert(const Operand& x, DType dtype);
// The same bits as another dtype of the same width.
Tensor Bitcast(const Operand& x, DType dtype);

// ---- operators: the functions above --------------------------------------

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

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_H_
