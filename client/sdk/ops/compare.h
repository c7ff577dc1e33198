// Predicates, and the choice by a predicate.
#ifndef HAWSER_CLIENT_SDK_OPS_COMPARE_H_
#define HAWSER_CLIENT_SDK_OPS_COMPARE_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Operands as in elementwise.h; they are compared in their promoted dtype. The
// result is bool. NaN is unequal to everything; complex numbers have Eq and Ne
// only. Grad: zero. Source: Nx, StableHLO compare.
Tensor Eq(const Operand& a, const Operand& b);
Tensor Ne(const Operand& a, const Operand& b);
Tensor Lt(const Operand& a, const Operand& b);
Tensor Le(const Operand& a, const Operand& b);
Tensor Gt(const Operand& a, const Operand& b);
Tensor Ge(const Operand& a, const Operand& b);

// Elements of `a` where `predicate` holds (is not zero), else of `b`; all
// three broadcast. The result has the promoted dtype of a and b. Errors: sizes
// that do not broadcast. Grad: of each side where it was taken. Source: NumPy
// where.
Tensor Select(const Operand& predicate, const Operand& a, const Operand& b);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_COMPARE_H_
