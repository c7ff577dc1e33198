// Predicates, and the choice by a predicate.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_COMPARE_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_COMPARE_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// "Operands" and "as usual": see elementwise.h. They are compared in their
// promoted dtype; NaN is unequal to everything, -0 equals 0, false is below
// true.

// a equals b. a, b: operands of any dtypes. Result: bool of the broadcast
// shape. Errors: as usual. Grad: zero. Source: StableHLO compare EQ; Nx equal.
Tensor Eq(const Operand& a, const Operand& b);

// a differs from b. a, b: operands of any dtypes. Result: bool of the broadcast
// shape. Errors: as usual. Grad: zero. Source: StableHLO compare NE; Nx
// not_equal.
Tensor Ne(const Operand& a, const Operand& b);

// a is below b. a, b: operands of reals or bool. Result: bool of the broadcast
// shape. Errors: as usual; complex. Grad: zero. Source: StableHLO compare LT;
// Nx less.
Tensor Lt(const Operand& a, const Operand& b);

// a is at most b. a, b: operands of reals or bool. Result: bool of the
// broadcast shape. Errors: as usual; complex. Grad: zero. Source: StableHLO
// compare LE; Nx less_equal.
Tensor Le(const Operand& a, const Operand& b);

// a is above b. a, b: operands of reals or bool. Result: bool of the broadcast
// shape. Errors: as usual; complex. Grad: zero. Source: StableHLO compare GT;
// Nx greater.
Tensor Gt(const Operand& a, const Operand& b);

// a is at least b. a, b: operands of reals or bool. Result: bool of the
// broadcast shape. Errors: as usual; complex. Grad: zero. Source: StableHLO
// compare GE; Nx greater_equal.
Tensor Ge(const Operand& a, const Operand& b);

// ---- operators: the functions above; Eq has none, since == would look like a
// comparison of handles ------------------------------------------------------

inline Tensor operator<(const Operand& a, const Operand& b) { return Lt(a, b); }
inline Tensor operator<=(const Operand& a, const Operand& b) {
  return Le(a, b);
}
inline Tensor operator>(const Operand& a, const Operand& b) { return Gt(a, b); }
inline Tensor operator>=(const Operand& a, const Operand& b) {
  return Ge(a, b);
}

// Elements of a where the predicate holds, else of b. predicate: an operand of
// any dtype, true where it is not zero. a, b: operands of any dtypes. Result:
// the broadcast shape of all three, the promoted dtype of a and b. Errors: as
// usual. Grad: to each side where it was taken. Source: StableHLO select; NumPy
// where.
Tensor Select(const Operand& predicate, const Operand& a, const Operand& b);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_COMPARE_H_
