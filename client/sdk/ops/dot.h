// Products of vectors, matrices and stacks of them.
#ifndef HAWSER_CLIENT_SDK_OPS_DOT_H_
#define HAWSER_CLIENT_SDK_OPS_DOT_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/shape.h"

namespace hawser {

// All: the dtypes promote and the result keeps that dtype (u8 wraps in u8);
// f16 and bf16 are summed in f32 and rounded once. Errors (sticky): contracted
// or batch axes of different sizes. Grad: two products.

// Nx's rule: of a scalar, the product; else the last axis of a is contracted
// with the second to last of b, or its only one. Not NumPy's batching:
// [2,2,3] . [2,3,2] has sizes [2,2,2,2]. Source: Nx dot/2.
Tensor Dot(const Operand& a, const Operand& b);

// Pairs of axes; may be negative, from the back.
struct DotAxes {
  Dims contract_a = {};
  Dims contract_b = {};
  Dims batch_a = {};
  Dims batch_b = {};
};
// Axes of the result: batch, the rest of a, the rest of b. Source: StableHLO
// dot_general; Nx dot/6.
Tensor Dot(const Operand& a, const Operand& b, const DotAxes& axes);

// NumPy's rule: the last two axes are matrices, those before broadcast; a
// vector is a row on the left and a column on the right. Errors: scalars.
// Source: NumPy matmul.
Tensor MatMul(const Operand& a, const Operand& b);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_DOT_H_
