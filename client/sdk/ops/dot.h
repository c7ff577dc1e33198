// Products of vectors, matrices and stacks of them.
#ifndef HAWSER_CLIENT_SDK_OPS_DOT_H_
#define HAWSER_CLIENT_SDK_OPS_DOT_H_

#include <optional>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"

namespace hawser {

// Everywhere here two dtypes promote and the result keeps that dtype (u8 wraps
// in u8, bool counts as u8); f16 and bf16 are summed in f32 and rounded once.
// All errors are sticky and kInvalidArgument.

struct DotOptions {
  // The result's dtype: the promoted one, or a wider one of its kind that a and
  // b are converted to first, as f32 for bf16 or s32 for s8. Unset: the
  // promoted one.
  std::optional<DType> dtype = std::nullopt;
};

// The product by Nx's rule: of a scalar, element by element; else the last axis
// of a is contracted with the second to last of b, or its only one. Not NumPy's
// batching: [2,2,3] . [2,3,2] has sizes [2,2,2,2]. a, b: tensors or numbers.
// options: see above. Result: the other axes of a, then those of b, of
// options.dtype. Errors: contracted axes of different sizes; a dtype that is
// not wider or of another kind. Grad: g . b^T, a^T . g. Source: Nx dot/2.
Tensor Dot(const Operand& a, const Operand& b, const DotOptions& options = {});

// Pairs of axes; may be negative, from the back.
struct DotAxes {
  Dims contract_a = {};
  Dims contract_b = {};
  Dims batch_a = {};
  Dims batch_b = {};
};
// The product over given axes. a, b: tensors. axes: pairs to be contracted, and
// pairs that are one axis each. options: see above. Result: the batch axes, the
// rest of a, the rest of b, of options.dtype. Errors: axes there are not, that
// are given twice, or whose sizes differ; a dtype that is not wider or of
// another kind. Grad: two such products. Source: StableHLO dot_general; Nx
// dot/6.
Tensor Dot(const Operand& a, const Operand& b, const DotAxes& axes,
           const DotOptions& options = {});

// The product by NumPy's rule: the last two axes are matrices, those before
// broadcast; a vector is a row on the left and a column on the right. a, b:
// tensors of rank 1 or more. options: see above. Result: the broadcast axes,
// the rows of a, the columns of b, of options.dtype. Errors: scalars; sizes
// that do not fit; a dtype that is not wider or of another kind. Grad: two such
// products. Source: NumPy matmul.
Tensor MatMul(const Operand& a, const Operand& b,
              const DotOptions& options = {});

// Every element of a times every element of b, which is conjugated if complex.
// a, b: tensors or numbers, read in row-major order. Result: [elements of a,
// elements of b]. Errors: none. Grad: g . b, a . g. Source: Nx outer.
Tensor Outer(const Operand& a, const Operand& b);

// The last two axes swapped, conjugated if complex; a vector is conjugated. x:
// a tensor of rank 1 or more. Result: x's dtype. Errors: a scalar. Grad: the
// same backwards. Source: Nx LinAlg adjoint.
Tensor Adjoint(const Operand& x);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_DOT_H_
