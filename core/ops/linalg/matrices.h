// Formulas of matrices, which are the last two axes of a value; those before
// are batches of them.
#ifndef HAWSER_CORE_OPS_LINALG_MATRICES_H_
#define HAWSER_CORE_OPS_LINALG_MATRICES_H_

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ops/expression.h"

namespace hawser::formulas {

// x y, of the same batches.
Expression MatrixProduct(const Expression& x, const Expression& y);
Expression MatrixTransposed(const Expression& x);
// Conjugated too, if complex.
Expression MatrixAdjoint(const Expression& x);
// x itself where it is real.
Expression ConjugateOf(const Expression& x);

// Whether column - row of an element compares so with `k`: bool, of the sizes
// of x.
Expression WhereColumns(const Expression& x, CompareDirection direction,
                        int64_t k);
// The triangle of x, with the diagonal unless `strict`; 0 in the rest.
Expression TriangleOf(const Expression& x, bool lower, bool strict = false);
// The lower triangle with half of the diagonal: what of x + x^H is lower comes
// back from it.
Expression HalfOf(const Expression& x);

// Rows [rows.first, rows.second) and such columns.
Expression PartOf(const Expression& x, std::pair<int64_t, int64_t> rows,
                  std::pair<int64_t, int64_t> columns);
// x, or y where x is 0: of numbers that are divided by.
Expression UnlessZero(const Expression& x, double y);
// A vector for each matrix, along the rows (1 below another) or the columns of
// matrices of sizes `dims`.
Expression AlongRows(const Expression& vector, absl::Span<const int64_t> dims);
Expression AlongColumns(const Expression& vector,
                        absl::Span<const int64_t> dims);
// 1 at (i, order[i]), s32, of each row i of a square matrix of this dtype.
Expression PermutationMatrix(const Expression& order, DType dtype);

// How a triangle is solved with: the attributes of triangular_solve.
struct TriangularSolveBy {
  bool left = true;
  bool lower = true;
  bool unit_diagonal = false;
  absl::string_view op;
};
Expression TriangularSolved(const Expression& a, const Expression& b,
                            const TriangularSolveBy& by);

}  // namespace hawser::formulas
#endif  // HAWSER_CORE_OPS_LINALG_MATRICES_H_
