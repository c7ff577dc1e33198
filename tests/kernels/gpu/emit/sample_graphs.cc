#include "tests/kernels/gpu/emit/sample_graphs.h"

#include <limits>
#include <utility>

#include "core/ops/control.h"
#include "core/ops/dot.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/shape.h"
#include "core/ops/slice.h"
#include "core/passes/optimize.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

Dims Last(const Expression& x) { return {x.rank() - 1}; }
Expression AlongRow(const Expression& row, const Expression& x) {
  return Spread(row, x.dims(), Last(x));
}
Expression MeanOf(const Expression& x) {
  const Expression sum = Summed(x, Last(x));
  return sum * Like(sum, 1.0 / static_cast<double>(x.dims().back()));
}

}  // namespace

Module Build(const SampleGraph& graph, DType dtype) {
  return Build(testing::ShapesOf(dtype, graph.dims), graph.body);
}

Module Build(const std::vector<Shape>& parameters,
             const std::function<Values(const Values&)>& body) {
  auto optimized = Optimize(testing::ExpressionModule(parameters, body),
                            {.verify = true});
  EXPECT_OK(optimized);
  return *std::move(optimized);
}

Expression MaxOf(const Expression& x, const Dims& axes) {
  const double least = -std::numeric_limits<double>::infinity();
  return Folded(kMaximum, x, ScalarOf(x.dtype(), least), axes);
}
Expression Softmax(const Expression& x) {
  const Expression e =
      Apply(kExponential, {x - AlongRow(MaxOf(x, Last(x)), x)});
  return e / AlongRow(Summed(e, Last(e)), x);
}
Values LayerNorm(const Values& p) {
  const Expression mean = MeanOf(p[0]);
  const Expression d = p[0] - AlongRow(mean, p[0]);
  const Expression scale = Apply(kRsqrt, {MeanOf(d * d) + 1e-5});
  const Expression wide = Spread(p[1], p[0].dims(), {0});
  return {d * AlongRow(scale, p[0]) * wide, mean, scale};
}
Values SumAndLargest(const Values& p) {
  return {Summed(p[0], Last(p[0])), MaxOf(p[0], Last(p[0])),
          Apply(kArgMax, {p[0]}, {{"dimension", Last(p[0])[0]}})};
}
Values ColumnSums(const Values& p) {
  return {Summed(p[0] * p[0], {0}), MaxOf(p[0], {0})};
}
Values FullSum(const Values& p) { return {SummedAll(p[0] * p[0] + 0.5)}; }
Values Chain(const Values& p) {
  return {(p[0] * p[1] + 0.5) * p[1], Apply(kMaximum, {p[0], p[1]})};
}
Expression Padded(const Expression& x, int64_t low, int64_t high,
                  int64_t interior) {
  const Expression edge = Filled(x.scope(), Shape::Scalar(x.dtype()), -1);
  return Apply(kPad, {x, edge},
               {{"edge_padding_low", Dims{low}},
                {"edge_padding_high", Dims{high}},
                {"interior_padding", Dims{interior}}});
}
Values Edges(const Values& p) {
  return {Apply(kConcatenate, {Padded(p[0], 2, 1, 1), p[0] * p[0]},
                {{"dimension", int64_t{0}}})};
}
Values Turned(const Values& p) {
  return {Transposed(p[0], {1, 0}) * p[1] + p[1]};
}
Values Product(const Values& p) {
  const Expression y = Apply(kDotGeneral, {p[0], p[1]},
                             {{"lhs_batching_dimensions", Dims{}},
                              {"lhs_contracting_dimensions", Dims{1}},
                              {"rhs_batching_dimensions", Dims{}},
                              {"rhs_contracting_dimensions", Dims{0}}});
  return {Apply(kMaximum, {y + Spread(p[2], y.dims(), {0}), Like(y, 0)})};
}

}  // namespace hawser::gpu
