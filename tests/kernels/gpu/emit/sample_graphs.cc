#include "tests/kernels/gpu/emit/sample_graphs.h"

#include <limits>
#include <utility>

#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
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
  auto optimized =
      Optimize(testing::ExpressionModule(parameters, body), {.verify = true});
  EXPECT_OK(optimized);
  return *std::move(optimized);
}

Module Fused(const SampleGraph& graph, DType dtype) {
  Module module("fused");
  ComputationBuilder inner(&module, "body");
  Monoids monoids;
  ExpressionScope scope{inner, monoids};
  Values parameters;
  for (const Dims& dims : graph.dims) {
    parameters.emplace_back(&scope, inner.Parameter(Shape::Of(dtype, dims)));
  }
  std::vector<ValueId> results;
  for (const Expression& e : graph.body(parameters)) {
    results.push_back(e.value());
  }
  const auto called = inner.Finish(results);
  EXPECT_OK(called);
  ComputationBuilder b(&module, "main");
  std::vector<ValueId> operands;
  for (const Dims& dims : graph.dims) {
    operands.push_back(b.Parameter(Shape::Of(dtype, dims)));
  }
  const ValueId first =
      b.Add(kFusion, operands, {{"kind", std::string("reduction")}}, {*called});
  for (size_t k = 0; k < results.size(); ++k) {
    results[k] = first + static_cast<ValueId>(k);
  }
  EXPECT_OK(b.Finish(results));
  return module;
}

Module Scattered(const Shape& input, const Shape& indices, const Shape& updates,
                 const Attributes& numbers, const OpDef& fold) {
  Module module("scattered");
  ComputationBuilder sum(&module, "sum");
  const ValueId x = sum.Parameter(Shape::Scalar(input.dtype()));
  const ValueId y = sum.Parameter(Shape::Scalar(input.dtype()));
  const auto combine = sum.Finish({sum.Add(fold, {x, y})});
  EXPECT_OK(combine);
  ComputationBuilder b(&module, "main");
  std::vector<ValueId> operands;
  for (const Shape& shape : {input, indices, updates}) {
    operands.push_back(b.Parameter(shape));
  }
  EXPECT_OK(b.Finish({b.Add(kScatter, operands, numbers, {*combine})}));
  return module;
}

Module ScatteredRows(DType dtype, const OpDef& fold) {
  return Scattered(Shape::Of(dtype, {1000, 8}),
                   Shape::Of(DType::kS32, {2000, 1}),
                   Shape::Of(dtype, {2000, 8}),
                   {{"index_vector_dim", int64_t{1}},
                    {"inserted_window_dims", Dims{0}},
                    {"scatter_dims_to_operand_dims", Dims{0}},
                    {"update_window_dims", Dims{1}}},
                   fold);
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
Values ColumnShares(const Values& p) {
  return {p[0] / Spread(Summed(p[0], {0}), p[0].dims(), {0})};
}
Values Sums(const Expression& x, int count, const Dims& axes) {
  Values sums;
  Expression power = x;
  for (int k = 0; k < count; ++k) {
    sums.push_back(Summed(power, axes));
    power = power * x;
  }
  return sums;
}
Values FullSum(const Values& p) { return {SummedAll(p[0] * p[0] + 0.5)}; }
Values Chain(const Values& p) {
  return {(p[0] * p[1] + 0.5) * p[1], Apply(kMaximum, {p[0], p[1]})};
}
Expression FromOn(const Values& p, const Dims& sizes) {
  return Apply(kDynamicSlice, p, {{"slice_sizes", sizes}});
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
