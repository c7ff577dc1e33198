// Every kind of region at sizes where loops, vectors, warps and blocks end.
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/literal.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "tests/kernels/gpu/emit/region_batch.h"
#include "tests/kernels/gpu/emit/sample_graphs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

class Shapes : public testing::Test {
 protected:
  ~Shapes() override { batch_.Run(); }

  void Check(const std::string& what, const SampleGraph& graph,
             DType dtype = DType::kF32, bool extremes = false,
             const plan::Target& target = plan::GpuTarget()) {
    CheckModule(what, Build(graph, dtype), extremes, target);
  }
  void CheckModule(const std::string& what, const Module& module,
                   bool extremes = false,
                   const plan::Target& target = plan::GpuTarget()) {
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
  Check("reversed and divided", {{{5, 6}, {30}}, [](const Values& p) {
                                   const Expression turned = Reshaped(
                                       Transposed(p[0], {1, 0}), {30});
                                   return Values{
                                       Apply(kReverse, {turned},
                                             {{"dimensions", Dims{0}}}) +
                                       p[1]};
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

// Two reductions, each of what another one is needed for.
Values TwoChains(const Values& p) {
  const Dims dims = p[0].dims();
  const Expression largest = Spread(MaxOf(p[0], {0}), dims, {0});
  const Expression sum = Spread(Summed(p[0], {0}), dims, {0});
  const Expression e = Apply(kExponential, {p[0] - largest});
  return {e / Spread(Summed(e, {0}), dims, {0}) *
          Spread(Summed(p[0] * sum, {0}), dims, {0})};
}

TEST_F(Shapes, ColumnsInSeveralPasses) {
  for (const int64_t columns : {1, 37, 132}) {
    const std::vector<Dims> dims = {{40, columns}};
    CheckModule("shares", Fused({dims, ColumnShares}, DType::kF32));
    CheckModule("two chains", Fused({dims, TwoChains}, DType::kF32));
  }
  CheckModule("shares from a number on",
              Fused({{{64, 132}, {}, {}},
                     [](const Values& p) {
                       return ColumnShares({FromOn(p, {40, 132})});
                     }},
                    DType::kS32));
}

TEST_F(Shapes, VectorsAndARestFromANumberOn) {
  const std::vector<Dims> dims = {{8, 5004}, {}, {}};
  const auto part = [](const Values& p) {
    return Apply(kSlice, {FromOn(p, {1, 5004})},
                 {{"start_indices", Dims{0, 0}},
                  {"limit_indices", Dims{1, 5001}},
                  {"strides", Dims{1, 1}}});
  };
  Check("negated",
        {dims, [&](const Values& p) { return Values{-part(p)}; }},
        DType::kS32);
  Check("summed",
        {dims, [&](const Values& p) { return Values{SummedAll(part(p))}; }},
        DType::kS32);
}

// The sums of rows and columns without elements, beside those.
TEST_F(Shapes, SumsOfNothingBesideNothing) {
  for (const int64_t axis : {0, 1}) {
    const SampleGraph both = {{axis == 0 ? Dims{0, 3} : Dims{3, 0}},
                              [&](const Values& p) {
                                const Expression y = Apply(kTanh, {p[0]});
                                return Values{y, Summed(y, {axis})};
                              }};
    CheckModule("as planned", Build(both, DType::kF32));
    CheckModule("in one", Fused(both, DType::kF32));
  }
}

// More than fits into shared memory with all lines of threads.
TEST_F(Shapes, ManyReductionsOfColumns) {
  for (const DType dtype : {DType::kF32, DType::kC128}) {
    Check("many",
          {{{40, 132}},
           [&](const Values& p) {
             Values all;
             Expression x = p[0];
             for (int k = 0; k < 16; ++k) {
               all.push_back(IsComplex(dtype)
                                 ? Summed(x, {0})
                                 : Apply(kArgMax, {x},
                                         {{"dimension", int64_t{0}}}));
               x = x + p[0];
             }
             return all;
           }},
          dtype);
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
