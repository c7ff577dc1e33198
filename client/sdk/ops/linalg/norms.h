// Norms of vectors and of matrices.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_NORMS_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_NORMS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/sdk/operand.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Integers and bool count as f32; halves are computed in f32 and rounded once.
// All errors are sticky and kInvalidArgument.

// (|x_1|^p + |x_2|^p + ...)^(1/p) over axes, all if none is given; of p
// infinite the largest size, of p = -infinity the smallest, of p = 0 how many
// are not 0. x: a tensor. order: p. over: the axes. Result: real, without the
// axes or with 1 for them. Errors: axes there are not; of an infinite p an axis
// of size 0. Grad: of the sizes' powers; 0 at 0 has none. Source: Nx LinAlg
// norm; NumPy linalg.vector_norm.
Tensor VectorNorm(const Operand& x, double order = 2, const Over& over = {});

// What a matrix is measured by.
enum class MatrixNormOf {
  kElements,              // the root of the sum of their squares: Frobenius
  kSingularValues,        // their sum: nuclear
  kLargestSingularValue,  // spectral, order 2
  kSmallestSingularValue,
  kLargestColumn,  // sums of sizes: order 1
  kSmallestColumn,
  kLargestRow,  // order infinity
  kSmallestRow,
};
// "largest_row" -> kLargestRow. Errors: kInvalidArgument naming the word.
absl::StatusOr<MatrixNormOf> ParseMatrixNorm(absl::string_view name);
// A norm of the matrices that the last two axes are. x: [..., m, n]. of: see
// above. Result: real, the axes before. Errors: rank below 2; of a largest or
// smallest, nothing to choose from. Grad: as of Svd, or of sizes. Source: Nx
// LinAlg norm; NumPy linalg.matrix_norm.
Tensor MatrixNorm(const Operand& x, MatrixNormOf of = MatrixNormOf::kElements);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_NORMS_H_
