// Short words for tests that write modules as expressions.
#ifndef HAWSER_TESTS_KERNELS_PLAN_WORDS_H_
#define HAWSER_TESTS_KERNELS_PLAN_WORDS_H_

#include <functional>
#include <vector>

#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "tests/testing/expression_module.h"

namespace hawser::plan {

using Values = std::vector<Expression>;
using Body = std::function<Values(const Values&)>;

inline Shape F32(const Dims& dims) { return Shape::Of(DType::kF32, dims); }

// Of f32 parameters.
inline Module Build(const std::vector<Dims>& dims, const Body& body) {
  return testing::ExpressionModule(testing::ShapesOf(DType::kF32, dims), body);
}
// op(op(... x)).
inline Expression Times(int count, const OpDef& op, Expression x) {
  for (int k = 0; k < count; ++k) x = Apply(op, {x});
  return x;
}
// [m,k] times [k,n].
inline Expression Product(const Expression& a, const Expression& b) {
  return Apply(kDotGeneral, {a, b},
               {{"lhs_batching_dimensions", Dims{}},
                {"lhs_contracting_dimensions", Dims{1}},
                {"rhs_batching_dimensions", Dims{}},
                {"rhs_contracting_dimensions", Dims{0}}});
}
// A row [n] of each of the rows of [m,n].
inline Expression AlongRows(const Expression& row, const Dims& dims) {
  return Spread(row, dims, {1});
}

}  // namespace hawser::plan
#endif  // HAWSER_TESTS_KERNELS_PLAN_WORDS_H_
