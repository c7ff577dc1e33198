// Formulas of matrices, which are the last two axes of a value; those before
// are batches of them.
#ifndef HAWSER_CORE_OPS_LINALG_MATRICES_H_
#define HAWSER_CORE_OPS_LINALG_MATRICES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
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
