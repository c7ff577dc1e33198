// Every kind of region at sizes where loops, vectors, warps and blocks end.
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/literal.h"
#include "core/ops/control.h"
#include "core/ops/dot.h"
#include "core/ops/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/reduce.h"
#include "core/ops/shape.h"
#include "core/ops/slice.h"
#include "core/passes/optimize.h"
#include "gtest/gtest.h"
#include "tests/kernels/gpu/emit/region_batch.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random_literal.h"

namespace hawser::gpu {
namespace {

using Values = std::vector<Expression>;

// Parameters of `dims`, all of `dtype`, and what is computed of them.
struct Graph {
  std::vector<Dims> dims;
  std::function<Values(const Values&)> body;
};

Module Build(const Graph& graph, DType dtype) {
  Module module("graph");
  ComputationBuilder builder(&module, "main");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  Values values;
  for (const Dims& dims : graph.dims) {
    values.emplace_back(&scope, builder.Parameter(Shape::Of(dtype, dims)));
  }
  std::vector<ValueId> results;
  for (const Expression& e : graph.body(values)) results.push_back(e.value());
  EXPECT_OK(builder.Finish(results));
  auto optimized = Optimize(std::move(module), {.verify = true});
  EXPECT_OK(optimized);
  return *std::move(optimized);
}

Dims Last(const Expression& x) { return {x.rank() - 1}; }
Expression AlongRow(const Expression& row, const Expression& x) {
  return Spread(row, x.dims(), Last(x));
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
Expression MeanOf(const Expression& x) {
  const Expression sum = Summed(x, Last(x));
  return sum * Like(sum, 1.0 / static_cast<double>(x.dims().back()));
}
// The mean and the scale leave too.
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

class Shapes : public testing::Test {
 protected:
  ~Shapes() override { batch_.Run(); }

  void Check(const std::string& what, const Graph& graph,
             DType dtype = DType::kF32, bool extremes = false,
             const plan::Target& target = plan::GpuTarget()) {
    const Module module = Build(graph, dtype);
    Random random(7);
    const auto arguments =
        RandomArguments(module.signature(), random, extremes);
    ASSERT_OK_AND_ASSIGN(const plan::Plan plan, plan::MakePlan(module, target));
    batch_.Add(plan, arguments, what);
  }

  explicit Shapes(bool strict = true)
      : batch_({.emit = {.strict = strict, .multiprocessors = 1},
                .emu = {.every_schedule = true}}) {}

  RegionBatch batch_;
};

class FastShapes : public Shapes {
 protected:
  FastShapes() : Shapes(false) {}
};

constexpr int64_t kSizes[] = {0, 1, 4, 5, 31, 32, 33, 127, 1023, 1025, 5000};

TEST_F(Shapes, Loops) {
  for (const int64_t n : kSizes) {
    for (const DType d : {DType::kF32, DType::kBF16, DType::kU8, DType::kF64}) {
      Check(absl::StrCat("chain of ", n), {{{n}, {n}}, Chain}, d, true);
    }
    Check(absl::StrCat("edges of ", n), {{{n}}, Edges}, DType::kF16, true);
  }
}

TEST_F(Shapes, Rows) {
  for (const int64_t n : kSizes) {
    for (const int64_t rows : {1, 3, 9}) {
      if (rows > 3 && n > 1025) continue;
      const std::string what = absl::StrCat(rows, " rows of ", n);
      Check("softmax, " + what, {{{rows, n}}, [](const Values& p) {
                                   return Values{Softmax(p[0])};
                                 }});
      if (n == 0) continue;
      Check("layer norm, " + what, {{{rows, n}, {n}}, LayerNorm});
      Check("sum and largest, " + what, {{{rows, n}}, SumAndLargest},
            DType::kF32, rows == 3);
    }
    Check(absl::StrCat("softmax of halves ", n),
          {{{3, n}}, [](const Values& p) { return Values{Softmax(p[0])}; }},
          DType::kBF16);
  }
}

TEST_F(Shapes, Columns) {
  for (const int64_t rows : kSizes) {
    for (const int64_t columns : {1, 37, 132}) {
      Check(absl::StrCat("columns of ", rows, " x ", columns),
            {{{rows, columns}}, ColumnSums}, DType::kF32, columns == 37);
    }
    Check(absl::StrCat("columns of bytes ", rows), {{{rows, 48}}, ColumnSums},
          DType::kS8);
  }
}

TEST_F(Shapes, Everything) {
  for (const int64_t n : {0, 1, 33, 5000, 20011}) {
    Check(absl::StrCat("sum of ", n), {{{n}}, FullSum});
    Check(absl::StrCat("sum of integers ", n), {{{n}}, FullSum}, DType::kS32);
  }
}

TEST_F(Shapes, EveryMonoid) {
  const struct {
    const OpDef* op;
    DType dtype;
    double neutral;
  } monoids[] = {
      {&kAdd, DType::kS32, 0},           {&kMultiply, DType::kS32, 1},
      {&kMaximum, DType::kS32, -0x1p31}, {&kMinimum, DType::kS32, 0x1p31 - 1},
      {&kAnd, DType::kS32, -1},          {&kOr, DType::kS32, 0},
      {&kAnd, DType::kBool, 1},          {&kOr, DType::kBool, 0},
  };
  for (const auto& m : monoids) {
    for (const Dims& axes : {Dims{1}, Dims{0}, Dims{0, 1}}) {
      Check(absl::StrCat(m.op->name, " along ", DimsToString(axes)),
            {{{5, 70}},
             [&](const Values& p) {
               return Values{
                   Folded(*m.op, p[0], ScalarOf(m.dtype, m.neutral), axes)};
             }},
            m.dtype);
    }
  }
}

// Coefficients below 0, and divisions of what lies below 0.
TEST_F(Shapes, IndicesThatRunBackwards) {
  Check("reversed", {{{5, 6}, {10, 3}}, [](const Values& p) {
                       const Expression back = Apply(
                           kReverse, {p[0]}, {{"dimensions", Dims{0, 1}}});
                       return Values{Reshaped(back, {10, 3}) + p[1]};
                     }});
  Check("reversed columns", {{{5, 6}, {5, 6}}, [](const Values& p) {
                               const Expression back = Apply(
                                   kReverse, {p[0]}, {{"dimensions", Dims{1}}});
                               return Values{back * p[1]};
                             }});
  Check("padded", {{{6, 5}}, [](const Values& p) {
                     const Expression turned = Transposed(p[0], {1, 0});
                     return Values{Padded(Reshaped(turned, {30}), 2, 1, 1)};
                   }});
}

TEST_F(Shapes, Transposes) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 33}, {31, 32}, {33, 65}, {64, 128}}) {
    // No cache holds what is read: tiles, and as it comes.
    for (const int64_t cached : {int64_t{0}, int64_t{1} << 20}) {
      plan::Target target = plan::GpuTarget();
      target.cached_bytes = cached;
      for (const DType d : {DType::kF32, DType::kU8, DType::kC128}) {
        Check(absl::StrCat("transpose of ", rows, " x ", columns),
              {{{rows, columns}, {columns, rows}}, Turned}, d, true, target);
      }
    }
  }
  EXPECT_GE(batch_.counts().at("tiled transpose"), 9);
}

TEST_F(Shapes, Products) {
  for (const auto& d :
       std::vector<Dims>{{1, 1, 1}, {33, 31, 65}, {32, 0, 3}, {5, 100, 64}}) {
    for (const DType t : {DType::kF32, DType::kBF16, DType::kS8, DType::kF64}) {
      Check("product", {{{d[0], d[1]}, {d[1], d[2]}, {d[2]}}, Product}, t);
    }
  }
}

// Rounded once instead of after each op.
TEST_F(FastShapes, Halves) {
  for (const int64_t n : {1, 8, 31, 1025}) {
    for (const DType d : {DType::kF16, DType::kBF16}) {
      const std::string what = absl::StrCat("halves ", n);
      Check(what, {{{n}, {n}}, Chain}, d);
      Check(what, {{{3, n}, {n}}, LayerNorm}, d);
      Check(what, {{{n, 16}}, ColumnSums}, d);
      Check(what, {{{5, n}, {n, 3}, {3}}, Product}, d);
    }
  }
}

// Rows of what swallows everything.
TEST_F(Shapes, NanAndInfinityInRows) {
  const Module module = Build(
      {{{4, 5}},
       [](const Values& p) {
         return Values{Softmax(p[0]), MaxOf(p[0], {1}),
                       Apply(kArgMax, {p[0]}, {{"dimension", int64_t{1}}})};
       }},
      DType::kF32);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Literal x =
      Literal::Of<float>({1, 2,   3, 4, 5,    1,    nan,  3,    inf,  nan,
                          1, inf, 2, 3, -inf, -inf, -inf, -inf, -inf, -inf},
                         {4, 5});
  ASSERT_OK_AND_ASSIGN(const plan::Plan plan,
                       plan::MakePlan(module, plan::GpuTarget()));
  batch_.CompareAll();
  batch_.Add(plan, {x}, "special rows");
}

}  // namespace
}  // namespace hawser::gpu
