// Systems of linear equations, and the triangles that they are solved with.
#ifndef HAWSER_CLIENT_SDK_OPS_LINALG_SOLVE_H_
#define HAWSER_CLIENT_SDK_OPS_LINALG_SOLVE_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Everywhere here the last two axes of a tensor are a matrix, and those before
// are batches; of two tensors these broadcast. Integers and bool count as f32;
// f16 and bf16 are computed in f32 and rounded once. All errors are sticky and
// kInvalidArgument.

// The factor L of a = L a^H, a lower triangle with 0 in the rest, or with
// {.upper = true} the U of a = U^H U. a: [..., n, n], Hermitian and positive
// definite, of which that triangle alone is read. Result: a's sizes; NaN for a
// matrix that is not positive definite or not finite. Errors: matrices that are
// not square. Grad: by the triangle that is read. Source: Nx LinAlg cholesky.
struct CholeskyOptions {
  bool upper = false;
};
Tensor Cholesky(const Operand& a, const CholeskyOptions& options = {});

// What is done to a matrix before it acts.
enum class Turned { kNo, kTransposed, kAdjoint };
struct TriangularSolveOptions {
  bool left = true;            // op(a) x = b; else x op(a) = b
  bool lower = true;           // the triangle of a that is read
  bool unit_diagonal = false;  // it counts as 1, and is not read
  Turned turned = Turned::kNo;
};
// The solution x of a system whose matrix is a triangle. a: [..., n, n], of
// which options.lower says what is read. b: [..., n, k], on the right [..., k,
// n]; or a vector for each matrix, [n] or a's sizes without the last. options:
// see above. Result: b's sizes, with the batches of both; a 0 on the diagonal
// divides. Errors: matrices that are not square; sizes that do not fit. Grad:
// by b one more such system, by a the product of that and x. Source: Nx LinAlg
// triangular_solve; StableHLO triangular_solve.
Tensor TriangularSolve(const Operand& a, const Operand& b,
                       const TriangularSolveOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_SOLVE_H_
