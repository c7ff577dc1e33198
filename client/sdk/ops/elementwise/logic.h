// Bits of integers, and truth values.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_LOGIC_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_LOGIC_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// "Operands" and "as usual": see elementwise.h.

// ---- bit by bit ------------------------------------------------------------

// Every bit flipped. x: an operand of integers or bool, where it is the logical
// not. Result: x's shape and dtype. Errors: as usual; floats, complex. Grad:
// zero. Source: StableHLO not; Nx bitwise_not.
Tensor BitwiseNot(const Operand& x);

// Bits set in both. a, b: operands of integers or bool. Result: the broadcast
// shape, the promoted dtype. Errors: as usual; floats, complex. Grad: zero.
// Source: StableHLO and; Nx bitwise_and.
Tensor BitwiseAnd(const Operand& a, const Operand& b);

// Bits set in either. a, b: operands of integers or bool. Result: the broadcast
// shape, the promoted dtype. Errors: as usual; floats, complex. Grad: zero.
// Source: StableHLO or; Nx bitwise_or.
Tensor BitwiseOr(const Operand& a, const Operand& b);

// Bits set in one of the two. a, b: operands of integers or bool. Result: the
// broadcast shape, the promoted dtype. Errors: as usual; floats, complex. Grad:
// zero. Source: StableHLO xor; Nx bitwise_xor.
Tensor BitwiseXor(const Operand& a, const Operand& b);

// a moved b bits up. a, b: operands of integers. Result: the broadcast shape,
// the promoted dtype; 0 where b is at least the width, or negative. Errors: as
// usual; floats, complex. Grad: zero. Source: StableHLO shift_left; Nx
// left_shift.
Tensor LeftShift(const Operand& a, const Operand& b);

// a moved b bits down, keeping the sign. a, b: operands of integers. Result:
// the broadcast shape, the promoted dtype; 0, or -1 of a negative a, where b is
// at least the width, or negative. Errors: as usual; floats, complex. Grad:
// zero. Source: StableHLO shift_right_arithmetic; Nx right_shift.
Tensor RightShift(const Operand& a, const Operand& b);

// a moved b bits down, zeros from above. a, b: operands of integers. Result:
// the broadcast shape, the promoted dtype; 0 where b is at least the width, or
// negative. Errors: as usual; floats, complex. Grad: zero. Source: StableHLO
// shift_right_logical.
Tensor RightShiftLogical(const Operand& a, const Operand& b);

// Counts the bits that are set. x: an operand of integers. Result: x's shape
// and dtype. Errors: as usual; bool, floats, complex. Grad: zero. Source:
// StableHLO popcnt; Nx population_count.
Tensor PopulationCount(const Operand& x);

// Counts the bits before the highest that is set. x: an operand of integers.
// Result: x's shape and dtype; the width of 0. Errors: as usual; bool, floats,
// complex. Grad: zero. Source: StableHLO count_leading_zeros; Nx
// count_leading_zeros.
Tensor CountLeadingZeros(const Operand& x);

// ---- truth values: what is not zero is true, NaN too ------------------------

// x == 0. x: an operand of any dtype. Result: bool of x's shape. Errors: as
// usual. Grad: zero. Source: Nx logical_not.
Tensor LogicalNot(const Operand& x);

// Both are true. a, b: operands of any dtypes. Result: bool of the broadcast
// shape. Errors: as usual. Grad: zero. Source: Nx logical_and.
Tensor LogicalAnd(const Operand& a, const Operand& b);

// One or both are true. a, b: operands of any dtypes. Result: bool of the
// broadcast shape. Errors: as usual. Grad: zero. Source: Nx logical_or.
Tensor LogicalOr(const Operand& a, const Operand& b);

// One is true, the other not. a, b: operands of any dtypes. Result: bool of the
// broadcast shape. Errors: as usual. Grad: zero. Source: Nx logical_xor.
Tensor LogicalXor(const Operand& a, const Operand& b);

// x is NaN. x: an operand of any dtype. Result: bool of x's shape; of a complex
// x whether any component is. Errors: as usual. Grad: zero. Source: Nx is_nan.
Tensor IsNan(const Operand& x);

// x is neither NaN nor infinite. x: an operand of any dtype. Result: bool of
// x's shape; of a complex x whether both components are. Errors: as usual.
// Grad: zero. Source: StableHLO is_finite.
Tensor IsFinite(const Operand& x);

// x is infinite. x: an operand of any dtype. Result: bool of x's shape; of a
// complex x whether any component is. Errors: as usual. Grad: zero. Source: Nx
// is_infinity.
Tensor IsInfinity(const Operand& x);

// ---- operators. ! && || are LogicalNot, LogicalAnd and LogicalOr: both sides
// are computed. ~ & | ^ go bit by bit; of bool both kinds say the same --------

inline Tensor operator!(const Operand& x) { return LogicalNot(x); }
inline Tensor operator&&(const Operand& a, const Operand& b) {
  return LogicalAnd(a, b);
}
inline Tensor operator||(const Operand& a, const Operand& b) {
  return LogicalOr(a, b);
}
inline Tensor operator~(const Operand& x) { return BitwiseNot(x); }
inline Tensor operator&(const Operand& a, const Operand& b) {
  return BitwiseAnd(a, b);
}
inline Tensor operator|(const Operand& a, const Operand& b) {
  return BitwiseOr(a, b);
}
inline Tensor operator^(const Operand& a, const Operand& b) {
  return BitwiseXor(a, b);
}
inline Tensor& operator&=(Tensor& a, const Operand& b) {
  return a = BitwiseAnd(Operand(a, b.where()), b);
}
inline Tensor& operator|=(Tensor& a, const Operand& b) {
  return a = BitwiseOr(Operand(a, b.where()), b);
}
inline Tensor& operator^=(Tensor& a, const Operand& b) {
  return a = BitwiseXor(Operand(a, b.where()), b);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_LOGIC_H_
