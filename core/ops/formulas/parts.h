// Parts that formulas are made of.
#ifndef HAWSER_CORE_OPS_FORMULAS_PARTS_H_
#define HAWSER_CORE_OPS_FORMULAS_PARTS_H_

#include "absl/types/span.h"
#include "core/ops/expression.h"

namespace hawser::formulas {

Expression Abs(const Expression& x);
Expression Square(const Expression& x);
// The smaller and the larger one; NaN stays.
Expression AtMost(const Expression& x, double most);
Expression AtLeast(const Expression& x, double least);
// True for each element below a number, or above it.
Expression Below(const Expression& x, double y);
Expression Above(const Expression& x, double y);
// `size`, which is not negative, with the sign of x; x itself where x is 0, of
// a function whose slope there is 1.
Expression WithSignOf(const Expression& x, const Expression& size);
// c[0] + x (c[1] + x (c[2] + ...)).
Expression Polynomial(absl::Span<const double> c, const Expression& x);
// The sum of c[i] times Chebyshev's polynomial i, for u from -1 to 1, without
// those after which no digit of u's dtype changes.
Expression Chebyshev(absl::Span<const double> c, const Expression& u);

}  // namespace hawser::formulas
#endif  // HAWSER_CORE_OPS_FORMULAS_PARTS_H_
