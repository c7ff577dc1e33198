// Triangles and diagonals of matrices, and differences of neighbours.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEXING_DIAGONAL_H_
#define HAWSER_CLIENT_SDK_OPS_INDEXING_DIAGONAL_H_

#include <cstdint>

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// The last two axes are matrices. Diagonal k holds the elements whose column is
// their row + k: 0 is the main one, 1 the one above. All errors are sticky and
// kInvalidArgument.

// Returns x on diagonal k and below, and zeros elsewhere. x: rank 2 or more,
// any dtype. Result: x's shape and dtype. Errors: rank below 2. Grad: the same
// of g. Source: Nx tril.
Tensor Tril(const Operand& x, int64_t k = 0);

// Returns x on diagonal k and above, and zeros elsewhere. x: rank 2 or more,
// any dtype. Result: x's shape and dtype. Errors: rank below 2. Grad: the same
// of g. Source: Nx triu.
Tensor Triu(const Operand& x, int64_t k = 0);

// Diagonal k. x: rank 2 or more, any dtype. Result: the axes before the last
// two, then the length of the diagonal; x's dtype. Errors: rank below 2; no
// such diagonal. Grad: put back. Source: Nx take_diagonal.
Tensor TakeDiagonal(const Operand& x, int64_t k = 0);

// A matrix with x on diagonal k, zeros elsewhere. x: [n], any dtype. Result: [n
// + |k|, n + |k|] of x's dtype. Errors: another rank. Grad: taken out. Source:
// Nx make_diagonal.
Tensor MakeDiagonal(const Operand& x, int64_t k = 0);

// x with `diagonal` written over diagonal k. x: rank 2, any dtype. diagonal:
// [its length]; the dtypes promote. Result: x's shape. Errors: another rank or
// length; no such diagonal. Grad: to both, where each is. Source: Nx
// put_diagonal.
Tensor PutDiagonal(const Operand& x, const Operand& diagonal, int64_t k = 0);

// The differences of neighbours, `order` times over. x: numbers, rank 1 or
// more; unsigned integers wrap, bool counts as u8. axis: may be negative.
// Result: the axis `order` shorter. Errors: an axis there is not; an order that
// is negative or above the size. Grad: that of its parts. Source: Nx diff.
Tensor Diff(const Operand& x, int64_t order = 1, int64_t axis = -1);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_INDEXING_DIAGONAL_H_
