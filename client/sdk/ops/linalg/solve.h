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

struct CholeskyOptions {
  bool upper = false;  // the factor U of a = U^H U
};
// The factor L of a = L L^H, a lower triangle with 0 in the rest, or with
// {.upper = true} the U of a = U^H U. a: [..., n, n], Hermitian and positive
// definite, of which that triangle alone is read. Result: a's sizes; NaN for a
// matrix that is not positive definite or not finite. Errors: matrices that are
// not square. Grad: by the triangle that is read. Source: Nx LinAlg cholesky.
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

// The factors of a = P L U: rows exchanged for the largest pivot.
struct LuFactors {
  Tensor order;  // s32 [..., m]: the row of a that each row of L U is
  Tensor lower;  // [..., m, k], with 1 on its diagonal; k: the smaller of m, n
  Tensor upper;  // [..., k, n]
};
// a as a product of triangles. a: [..., m, n]. Result: see above; NaN for a
// matrix that is not finite. Errors: rank below 2. Grad: where a is not
// singular. Source: Nx LinAlg lu; LAPACK getrf.
LuFactors Lu(const Operand& a);

// The solution x of a x = b, by Lu. a: [..., n, n]. b: [..., n, k], or a vector
// for each matrix, as of TriangularSolve. Result: b's sizes, with the batches
// of both; of a singular matrix not finite. Errors: matrices that are not
// square; sizes that do not fit. Grad: by b the solution with a^H, by a its
// product with x. Source: Nx LinAlg solve.
Tensor Solve(const Operand& a, const Operand& b);

// The matrix whose product with a is the identity, by Lu. a: [..., n, n].
// Result: a's sizes; of a singular matrix not finite. Errors: matrices that are
// not square. Grad: -a^-H g a^-H. Source: Nx LinAlg invert.
Tensor Inverse(const Operand& a);

// The determinant, by Lu. a: [..., n, n]. Result: the axes before the matrices;
// 1 of n = 0. Errors: matrices that are not square. Grad: where a is not
// singular. Source: Nx LinAlg determinant.
Tensor Determinant(const Operand& a);

// The determinant as a number of size 1, or 0, and the logarithm of its size,
// for those that are out of range; the determinant is sign exp(logarithm).
struct SignAndLogarithm {
  Tensor sign;       // a's dtype; 0 of a singular matrix
  Tensor logarithm;  // real; -infinity of a singular matrix
};
// The determinant in two parts. a: [..., n, n]. Result: see above, of the axes
// before the matrices. Errors: matrices that are not square. Grad: where a is
// not singular. Source: NumPy linalg.slogdet.
SignAndLogarithm LogDeterminant(const Operand& a);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_LINALG_SOLVE_H_
