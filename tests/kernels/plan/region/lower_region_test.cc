// What becomes of one instruction: its kind, passes, parts, and what moves.
#include <functional>
#include <string>
#include <vector>

#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/plan/fusion/dot_layout.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/region/epilogue.h"
#include "kernels/plan/region/node_table.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

// The last step that launches anything.
Region LastOf(const std::vector<Dims>& dims,
              const Body& body,
              const Target& target = GpuTarget()) {
  const auto plan = MakePlan(Build(dims, body), target);
  EXPECT_OK(plan);
  Region last;
  if (!plan.ok()) return last;
  for (const Region& r : plan->entry().regions) {
    if (r.launches > 0) last = r;
  }
  return last;
}

Values SumsOfRows(const Values& p) { return {Summed(p[0], {1})}; }
Values SumsOfColumns(const Values& p) { return {Summed(p[0], {0})}; }
Values Softmax(const Values& p) {
  const Dims dims = p[0].dims();
  const Expression most =
      Folded(kMaximum, p[0], ScalarOf(DType::kF32, -1e30), {1});
  const Expression e = Apply(kExponential, {p[0] - AlongRows(most, dims)});
  return {e / AlongRows(Summed(e, {1}), dims)};
}
Values Normalized(const Values& p) {
  return {p[0] / AlongRows(Summed(p[0], {1}), p[0].dims())};
}

TEST(LowerRegion, ReductionsAreOfRowsColumnsOrEverything) {
  const auto kind = [](const Dims& dims, const Dims& axes) {
    return LastOf({dims},
                  [&](const Values& p) { return Values{Summed(p[0], axes)}; })
        .kind;
  };
  EXPECT_EQ(kind({4, 8}, {1}), RegionKind::kRow);
  EXPECT_EQ(kind({4, 8}, {0}), RegionKind::kColumnReduction);
  EXPECT_EQ(kind({4, 8}, {0, 1}), RegionKind::kFullReduction);
  EXPECT_EQ(kind({1, 8}, {1}), RegionKind::kFullReduction);
  // Behind the reduced axis stands one element.
  EXPECT_EQ(kind({4, 8, 1}, {1}), RegionKind::kRow);
  EXPECT_EQ(kind({4, 8, 2}, {1}), RegionKind::kColumnReduction);
  EXPECT_EQ(kind({4, 8, 2}, {0, 2}), RegionKind::kColumnReduction);
  // Axes of one element say nothing, unless there are no others.
  EXPECT_EQ(kind({1, 8, 2}, {0, 2}), RegionKind::kRow);
  EXPECT_EQ(kind({1, 8, 1}, {0, 2}), RegionKind::kColumnReduction);
  // Everything, but it comes back to every element.
  EXPECT_EQ(LastOf({{1, 8}}, Normalized).kind, RegionKind::kRow);
}

// What is done once per result needs no pass of its own.
TEST(LowerRegion, PassesAreCountedByWhatIsDonePerTurn) {
  EXPECT_EQ(LastOf({{64, 8}}, SumsOfRows).stages, 1);
  EXPECT_EQ(LastOf({{64, 8}},
                   [](const Values& p) {
                     return Values{Summed(p[0], {1}) * Summed(p[0], {1})};
                   })
                .stages,
            1);
  EXPECT_EQ(LastOf({{64, 8}}, Normalized).stages, 2);
  // The same number all over, but it is added up.
  EXPECT_EQ(
      LastOf(
          {{64, 8}},
          [](const Values& p) {
            return Values{Summed(AlongRows(Summed(p[0], {1}), {64, 8}), {1})};
          })
          .stages,
      2);
  EXPECT_EQ(LastOf({{64, 8}}, Softmax).stages, 3);
}

TEST(LowerRegion, LivePointsAreTheMostThatWaitToBeRead) {
  const auto live = [](const std::function<Expression(const Values&)>& body) {
    return LastOf({{8}, {8}, {8}},
                  [&](const Values& p) { return Values{body(p)}; })
        .live_points;
  };
  EXPECT_EQ(live([](const Values& p) { return Apply(kNegate, {p[0]}); }), 2);
  EXPECT_EQ(live([](const Values& p) {
              return Apply(kNegate, {Apply(kNegate, {Apply(kNegate, {p[0]})})});
            }),
            2);
  EXPECT_EQ(live([](const Values& p) { return p[0] + p[1]; }), 3);
  EXPECT_EQ(live([](const Values& p) { return p[0] + p[1] + p[2]; }), 4);
  // An index depends on no other value.
  EXPECT_EQ(LastOf({{8}},
                   [](const Values& p) {
                     const ValueId iota = p[0].scope()->builder.Add(
                         kIota, {},
                         {{"dtype", DType::kF32},
                          {"dims", Dims{8}},
                          {"iota_dimension", int64_t{0}}});
                     return Values{{p[0].scope(), iota}};
                   })
                .live_points,
            1);
  // The first value is read last.
  EXPECT_EQ(live([](const Values& p) {
              const Expression y = Apply(kTanh, {Apply(kTanh, {p[0]})});
              return y + p[0];
            }),
            3);
}

// Of 132 units with 4 blocks each, and at least 1024 elements a part, or 32 to
// 1024 rows.
TEST(LowerRegion, FewResultsAreSplitIntoPartsThatAreLongEnough) {
  const struct {
    Dims dims;
    bool rows;
    int64_t splits;
  } cases[] = {
      {{2, 2047}, true, 1},         {{2, 2048}, true, 2},
      {{2, 5000}, true, 4},         {{2, 1 << 20}, true, 264},
      {{2, 100}, true, 1},          {{600, 1 << 14}, true, 1},
      {{264, 1 << 14}, true, 2},    {{265, 1 << 14}, true, 1},
      {{2048, 2}, false, 2},        {{2047, 2}, false, 1},
      {{1 << 20, 256}, false, 528}, {{1 << 20, 257}, false, 264},
      {{1 << 20, 512}, false, 264}, {{1 << 20, 513}, false, 176},
      // Blocks of many columns have parts of fewer rows, from 32 on.
      {{4096, 768}, false, 128},    {{1024, 4096}, false, 32},
      {{63, 256}, false, 1},        {{64, 256}, false, 2},
      {{1024, 16}, false, 2},       {{1023, 15}, false, 1},
  };
  for (const auto& c : cases) {
    const Region r = LastOf({c.dims}, c.rows ? SumsOfRows : SumsOfColumns);
    const std::string what = DimsToString(c.dims);
    EXPECT_EQ(r.splits, c.splits) << what;
    EXPECT_EQ(r.launches, c.splits > 1 ? 2 : 1) << what;
    const int64_t kept = c.rows ? c.dims[0] : c.dims[1];
    EXPECT_EQ(r.scratch_bytes, c.splits > 1 ? c.splits * kept * 16 : 0) << what;
  }
  // Sixteen bytes for each of the sums.
  const Region two = LastOf({{2, 2048}}, [](const Values& p) {
    return Values{Summed(p[0], {1}), Summed(p[0] * p[0], {1})};
  });
  EXPECT_EQ(two.scratch_bytes, 2 * 2 * 2 * 16);
  EXPECT_EQ(LastOf({{1 << 20}},
                   [](const Values& p) { return Values{SummedAll(p[0])}; })
                .splits,
            528);
  // Nothing waits for a sum that is in parts.
  EXPECT_EQ(LastOf({{2, 4096}}, Normalized).splits, 1);
  EXPECT_EQ(LastOf({{0, 4096}}, SumsOfRows).splits, 1);
}

// Sums of two arrays in one instruction that is no fusion.
TEST(LowerRegion, AReductionAloneHasAllItsResults) {
  Module module("two");
  const Shape number = Shape::Scalar(DType::kF32);
  const Shape matrix = Shape::Of(DType::kF32, {4, 8});
  ComputationBuilder both(&module, "both");
  for (int k = 0; k < 4; ++k) both.Parameter(number);
  ASSERT_OK_AND_ASSIGN(const int called, both.Finish({both.Add(kAdd, {0, 2}),
                                                      both.Add(kAdd, {1, 3})}));
  ComputationBuilder b(&module, "main");
  for (const Shape& s : {matrix, matrix, number, number}) b.Parameter(s);
  const ValueId sums =
      b.Add(kReduce, {0, 1, 2, 3}, {{"dimensions", Dims{1}}}, {called});
  ASSERT_OK(b.Finish({sums, sums + 1}));
  ASSERT_OK_AND_ASSIGN(const Region r, LowerRegion(module, 1, 4, GpuTarget()));
  EXPECT_EQ(r.kind, RegionKind::kRow);
  ASSERT_EQ(r.results.size(), 2u);
  for (int k = 0; k < 2; ++k) EXPECT_EQ(r.points[r.results[k]].result, k);
  EXPECT_EQ(r.bytes_read, 2 * 4 * 8 * 4 + 2 * 4);
  EXPECT_EQ(r.bytes_written, 2 * 4 * 4);
}

// ---- fusions that another made

// `body` of two parameters as the fusion of an entry that calls it.
Region OfFusion(const Dims& dims,
                const Body& body) {
  Module module("fusion");
  ComputationBuilder inner(&module, "body");
  Monoids monoids;
  ExpressionScope scope{inner, monoids};
  const Shape shape = Shape::Of(DType::kF32, dims);
  Values values = {{&scope, inner.Parameter(shape)},
                   {&scope, inner.Parameter(shape)}};
  std::vector<ValueId> results;
  for (const Expression& e : body(values)) results.push_back(e.value());
  const auto called = inner.Finish(results);
  EXPECT_OK(called);
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(shape), y = b.Parameter(shape);
  const ValueId first =
      b.Add(kFusion, {x, y}, {{"kind", std::string("any")}}, {*called});
  std::vector<ValueId> all;
  for (size_t k = 0; k < results.size(); ++k) {
    all.push_back(first + static_cast<ValueId>(k));
  }
  const auto entry = b.Finish(all);
  EXPECT_OK(entry);
  auto region = LowerRegion(module, *entry, 2, GpuTarget());
  EXPECT_OK(region);
  return region.ok() ? *region : Region();
}

TEST(LowerRegion, FusionsThatAreNotOneRegionAreCalled) {
  EXPECT_EQ(
      OfFusion({4, 6}, [](const Values& p) { return Values{p[0] + p[1]}; })
          .kind,
      RegionKind::kLoop);
  const Region two_folds = OfFusion({6, 6}, [](const Values& p) {
    return Values{Summed(p[0], {0}), Summed(p[1], {1})};
  });
  EXPECT_EQ(two_folds.kind, RegionKind::kHost);
  EXPECT_EQ(two_folds.launches, 1);
  EXPECT_EQ(two_folds.bytes_read, 2 * 36 * 4);
  EXPECT_EQ(two_folds.bytes_written, 2 * 6 * 4);
  // Sums of which one is used for another element than its own.
  EXPECT_EQ(OfFusion({6, 6},
                     [](const Values& p) {
                       const Expression sum = Summed(p[0], {1});
                       return Values{sum + Apply(kReverse, {sum},
                                                 {{"dimensions", Dims{0}}})};
                     })
                .kind,
            RegionKind::kHost);
  // Results of sizes that no loop runs over.
  EXPECT_EQ(OfFusion({4, 6},
                     [](const Values& p) {
                       return Values{p[0] + p[1],
                                     Apply(kSlice, {p[0]},
                                           {{"start_indices", Dims{0, 0}},
                                            {"limit_indices", Dims{2, 3}},
                                            {"strides", Dims{1, 1}}})};
                     })
                .kind,
            RegionKind::kHost);
  // A step inside that is no part of a kernel.
  EXPECT_EQ(
      OfFusion(
          {4, 6},
          [](const Values& p) {
            const Expression zero(
                p[0].scope(),
                p[0].scope()->builder.Constant(Literal::Scalar(int32_t{0})));
            return Values{Apply(kDynamicUpdateSlice, {p[0], p[1], zero, zero})};
          })
          .kind,
      RegionKind::kHost);
}

TEST(LowerRegion, AFusionWithoutResultsMovesNothing) {
  const Region r = OfFusion({4, 6}, [](const Values&) { return Values{}; });
  EXPECT_EQ(r.kind, RegionKind::kLoop);
  EXPECT_EQ(r.domain, Dims{});
  EXPECT_TRUE(r.accesses.empty());
  EXPECT_EQ(r.bytes_read + r.bytes_written, 0);
  EXPECT_EQ(r.live_points, 0);
}

TEST(LowerRegion, AProductThatNothingReadsIsNone) {
  const Region r = OfFusion({4, 4}, [](const Values& p) {
    Apply(kDotGeneral, p,
          {{"lhs_batching_dimensions", Dims{}},
           {"lhs_contracting_dimensions", Dims{1}},
           {"rhs_batching_dimensions", Dims{}},
           {"rhs_contracting_dimensions", Dims{0}}});
    return Values{p[0] + p[1]};
  });
  EXPECT_EQ(r.epilogue.dot_instruction, -1);
  EXPECT_FALSE(r.epilogue.present);
}

TEST(LowerRegion, AProductsLoopsAreItsOwnWhateverLeaves) {
  const Region r = OfFusion({4, 4}, [](const Values& p) {
    const Expression d = Apply(kDotGeneral, p,
                               {{"lhs_batching_dimensions", Dims{}},
                                {"lhs_contracting_dimensions", Dims{1}},
                                {"rhs_batching_dimensions", Dims{}},
                                {"rhs_contracting_dimensions", Dims{0}}});
    return Values{Reshaped(d, {16})};
  });
  EXPECT_EQ(r.kind, RegionKind::kLibraryDot);
  EXPECT_EQ(r.domain, (Dims{4, 4}));
}

// A library computes the product alone, and adds operands as they are.
TEST(LowerRegion, WhatMovesAProductOrWhatIsAddedIsAnotherTail) {
  const auto product = [](const Values& p) {
    return Apply(kDotGeneral, p,
                 {{"lhs_batching_dimensions", Dims{}},
                  {"lhs_contracting_dimensions", Dims{1}},
                  {"rhs_batching_dimensions", Dims{}},
                  {"rhs_contracting_dimensions", Dims{0}}});
  };
  const auto tail = [](const Body& body) {
    const Region r = OfFusion({4, 4}, body);
    EXPECT_EQ(r.kind, RegionKind::kLibraryDot);
    return r.epilogue;
  };
  EXPECT_FALSE(
      tail([&](const Values& p) { return Values{product(p)}; }).present);
  const Epilogue added =
      tail([&](const Values& p) { return Values{product(p) + p[1]}; });
  EXPECT_TRUE(added.present);
  EXPECT_EQ(added.activation, Activation::kIdentity);
  EXPECT_EQ(added.residual_operand, 1);
  const std::function<Values(const Values&)> others[] = {
      [&](const Values& p) {
        return Values{Transposed(product(p), {1, 0})};
      },
      [&](const Values& p) {
        return Values{product(p) + Transposed(p[1], {1, 0})};
      },
  };
  for (const auto& other : others) {
    const Epilogue e = tail(other);
    EXPECT_TRUE(e.present);
    EXPECT_EQ(e.activation, Activation::kOther);
    EXPECT_EQ(e.residual_operand, -1);
  }
}

// ---- in words

TEST(Explain, ARegionIsALine) {
  Region r{.kind = RegionKind::kLibraryDot};
  EXPECT_EQ(r.ToString(), "library dot");
  r.points.emplace_back();
  r.vector_width = 4;
  EXPECT_EQ(r.ToString(), "library dot [] width 4");
  r.loops.extents = {6, 8};
  r.num_kept_loops = 2;
  r.epilogue = {.bias_operand = 0,
                .residual_operand = 0,
                .activation = Activation::kRelu,
                .present = true};
  EXPECT_EQ(r.ToString(),
            "library dot [6,8] width 4, epilogue bias residual relu");
  r.epilogue = {.activation = Activation::kIdentity, .present = true};
  r.num_kept_loops = 1;
  r.stages = r.splits = 2;
  EXPECT_EQ(r.ToString(),
            "library dot [6,8] keeps 1 width 4, 2 passes, split in 2, epilogue"
            " identity");
}

TEST(Explain, StepsThatLaunchNothingAreLeftOutButViews) {
  Module module("words");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {4, 6}));
  const ValueId c = b.Constant(Literal::Zeros(Shape::Of(DType::kF32, {4, 6})));
  const ValueId view = b.Add(kReshape, {x}, {{"dims", Dims{24}}});
  const ValueId sum = b.Add(kAdd, {x, c});
  ASSERT_OK(b.Finish({view, sum, c}));
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
  EXPECT_EQ(Explain(plan, GpuTarget()),
            "computation @0 \"main\": 1 launches, 288 bytes, arena 0 bytes for "
            "0\n"
            "  %2: view; 0 launches, reads 0, writes 0; reshape -> argument 0\n"
            "  %3: loop [24] width 4; 1 launch, reads 192, writes 96; add -> "
            "result 1\n");
}

// ---- instructions that stand alone

TEST(LowerRegion, KindsAndBytesOfInstructionsAlone) {
  const Shape shape = Shape::Of(DType::kF32, {4, 6});
  Module module("alone");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(shape), y = b.Parameter(shape);
  const ValueId c = b.Constant(Literal::Scalar(int32_t{0}));
  b.Add(kReshape, {x}, {{"dims", Dims{24}}});
  b.Add(kAdd, {x, y});
  b.Add(kDynamicUpdateSlice, {x, y, c, c});
  ASSERT_OK(b.Finish({x}));
  const struct {
    RegionKind kind;
    int launches;
    int64_t read, written;
  } want[] = {
      {RegionKind::kNone, 0, 0, 0},
      {RegionKind::kNone, 0, 0, 0},
      {RegionKind::kConstant, 0, 0, 0},
      {RegionKind::kView, 0, 0, 0},
      {RegionKind::kLoop, 1, 192, 96},
      // In place: the update and the two numbers, and as much again.
      {RegionKind::kUpdate, 1, 104, 104},
  };
  for (int k = 0; k < 6; ++k) {
    ASSERT_OK_AND_ASSIGN(const Region r,
                         LowerRegion(module, 0, k, GpuTarget()));
    EXPECT_EQ(r.kind, want[k].kind) << k;
    EXPECT_EQ(r.launches, want[k].launches) << k;
    EXPECT_EQ(r.bytes_read, want[k].read) << k;
    EXPECT_EQ(r.bytes_written, want[k].written) << k;
    EXPECT_EQ(r.computation, 0);
    EXPECT_EQ(r.instruction, k);
    EXPECT_EQ(r.body, 0);
  }
}

// ---- products without transposes

struct DotAxes {
  ValueId left, right;
  Dims left_batch, left_summed, right_batch, right_summed;
  bool operator==(const DotAxes&) const = default;
};
DotAxes DotOf(const Module& module) {
  for (const Instruction& i : module.entry().instructions()) {
    if (i.op != &kDotGeneral) continue;
    const auto dims = [&](const char* name) {
      const auto list = i.attributes.GetInts(name);
      return Dims(list.begin(), list.end());
    };
    return {i.operands[0],
            i.operands[1],
            dims("lhs_batching_dimensions"),
            dims("lhs_contracting_dimensions"),
            dims("rhs_batching_dimensions"),
            dims("rhs_contracting_dimensions")};
  }
  return {};
}
// The product of both parameters, each transposed by these permutations.
DotAxes Folded(const std::vector<Dims>& dims, const DotAxes& axes,
               const std::vector<Dims>& left, const std::vector<Dims>& right) {
  const auto folded = LayOutProducts(
      Build(dims,
            [&](const Values& p) {
              Values sides = p;
              for (const Dims& d : left) sides[0] = Transposed(sides[0], d);
              for (const Dims& d : right) sides[1] = Transposed(sides[1], d);
              return Values{
                  Apply(kDotGeneral, sides,
                        {{"lhs_batching_dimensions", axes.left_batch},
                         {"lhs_contracting_dimensions", axes.left_summed},
                         {"rhs_batching_dimensions", axes.right_batch},
                         {"rhs_contracting_dimensions", axes.right_summed}})};
            }),
      CpuTarget());
  EXPECT_OK(folded);
  return folded.ok() ? DotOf(*folded) : DotAxes();
}

TEST(DotLayout, TransposesBecomeOtherAxes) {
  const DotAxes matrix = {0, 1, {}, {1}, {}, {0}};
  EXPECT_EQ(Folded({{3, 4}, {4, 5}}, matrix, {}, {}), matrix);
  EXPECT_EQ(Folded({{4, 3}, {4, 5}}, matrix, {{1, 0}}, {}),
            (DotAxes{0, 1, {}, {0}, {}, {0}}));
  EXPECT_EQ(Folded({{3, 4}, {5, 4}}, matrix, {}, {{1, 0}}),
            (DotAxes{0, 1, {}, {1}, {}, {1}}));
  EXPECT_EQ(Folded({{4, 3}, {5, 4}}, matrix, {{1, 0}}, {{1, 0}}),
            (DotAxes{0, 1, {}, {0}, {}, {1}}));
  // One behind another.
  const DotAxes batches = {0, 1, {0}, {2}, {0}, {1}};
  EXPECT_EQ(Folded({{4, 2, 3}, {2, 4, 5}}, batches, {{1, 0, 2}, {0, 2, 1}}, {}),
            (DotAxes{0, 1, {1}, {0}, {0}, {1}}));
  EXPECT_EQ(Folded({{2, 3, 4}, {5, 4, 2}}, batches, {}, {{2, 1, 0}}),
            (DotAxes{0, 1, {0}, {2}, {2}, {1}}));
}

TEST(DotLayout, AxesOfTheResultAndTheOrderOfASumStay) {
  // The two that are left would change places.
  const DotAxes left = {0, 1, {}, {2}, {}, {0}};
  EXPECT_NE(Folded({{3, 2, 4}, {4, 5}}, left, {{1, 0, 2}}, {}).left, 0);
  EXPECT_EQ(Folded({{4, 2, 3}, {4, 5}}, left, {{1, 2, 0}}, {}),
            (DotAxes{0, 1, {}, {0}, {}, {0}}));
  EXPECT_NE(
      Folded({{4, 3, 2}, {4, 5}}, {0, 1, {}, {0}, {}, {0}}, {{0, 2, 1}}, {})
          .left,
      0);
  // Two are summed.
  const DotAxes two = {0, 1, {}, {0, 1}, {}, {0, 1}};
  EXPECT_NE(Folded({{4, 3}, {3, 4}}, two, {{1, 0}}, {}).left, 0);
}

// ---- what plans are made by

TEST(NodeTable, CostsAreInAdditions) {
  const struct {
    double cost;
    std::vector<const OpDef*> ops;
  } rows[] = {
      {0, {&kConstant, &kReshape, &kBroadcastInDim, &kStopGradient}},
      {0, {&kBitcastConvert}},
      {1, {&kAdd, &kMultiply, &kMaximum, &kConvert, &kIota}},
      {1, {&kTranspose, &kSlice, &kReverse, &kDynamicUpdateSlice}},
      {2, {&kDynamicSlice, &kReduce}},
      {3, {&kArgMax, &kArgMin}},
      {4, {&kPad, &kConcatenate}},
      {6, {&kGather}},
      {8, {&kDivide, &kSqrt, &kRsqrt}},
      {12, {&kExponential, &kExponentialMinusOne, &kLog, &kLogPlusOne}},
      {12, {&kLogistic, &kTanh, &kCbrt, &kErf}},
      {40, {&kRemainder, &kPower, &kAtan2, &kSine, &kCosine}},
      {40, {&kTan, &kErfc, &kLgamma}},
  };
  for (const auto& row : rows) {
    for (const OpDef* op : row.ops) {
      EXPECT_EQ(NodeOf(*op).cost, row.cost) << op->name;
    }
  }
  for (const OpDef* op :
       {&kConstant, &kIota, &kReshape, &kStopGradient, &kBitcastConvert}) {
    EXPECT_TRUE(NodeOf(*op).free) << op->name;
  }
  for (const OpDef* op : {&kAdd, &kTranspose, &kBroadcastInDim, &kPad}) {
    EXPECT_FALSE(NodeOf(*op).free) << op->name;
  }
}

TEST(NodeTable, BitsOfAnotherWidthAreNoElements) {
  const struct {
    Shape from;
    DType to;
    NodeClass node;
    bool view;
  } cases[] = {
      {Shape::Of(DType::kF32, {2}), DType::kU32, NodeClass::kLoop, true},
      {Shape::Of(DType::kBool, {2}), DType::kBool, NodeClass::kLoop, true},
      {Shape::Of(DType::kF32, {2}), DType::kU8, NodeClass::kBytes, true},
      {Shape::Of(DType::kU8, {2, 4}), DType::kF32, NodeClass::kBytes, true},
      {Shape::Of(DType::kU8, {2}), DType::kBool, NodeClass::kHost, false},
  };
  for (const auto& c : cases) {
    Module module("m");
    ComputationBuilder b(&module, "main");
    const ValueId x = b.Parameter(c.from);
    ASSERT_OK(b.Finish({b.Add(kBitcastConvert, {x}, {{"dtype", c.to}})}));
    const NodeRow& row =
        NodeOf(module.entry(), module.entry().instructions()[1]);
    EXPECT_EQ(row.node, c.node) << c.from.ToString();
    EXPECT_EQ(row.view, c.view) << c.from.ToString();
  }
}

// Who fills in a part of one leaves the rest as "none".
TEST(LowerRegion, NumbersBeginAsNone) {
  const Region r;
  EXPECT_EQ(r.kind, RegionKind::kNone);
  EXPECT_EQ(r.computation, -1);
  EXPECT_EQ(r.instruction, -1);
  EXPECT_EQ(r.body, -1);
  EXPECT_EQ(r.num_kept, 0);
  EXPECT_EQ(r.num_kept_loops, 0);
  EXPECT_EQ(r.vector_width, 1);
  EXPECT_TRUE(r.fits_u32);
  EXPECT_EQ(r.stages, 1);
  EXPECT_EQ(r.launches, 1);
  EXPECT_EQ(r.splits, 1);
  EXPECT_EQ(r.scratch_bytes, 0);
  EXPECT_EQ(r.live_points, 0);
  EXPECT_EQ(r.bytes_read + r.bytes_written + r.lane_operations, 0);
  EXPECT_FALSE(r.epilogue.present);
  EXPECT_EQ(r.epilogue.dot_instruction, -1);
  EXPECT_EQ(r.epilogue.dot_point, -1);
  EXPECT_EQ(r.epilogue.bias_operand, -1);
  EXPECT_EQ(r.epilogue.residual_operand, -1);
  const Point p;
  EXPECT_EQ(p.instruction, -1);
  EXPECT_EQ(p.result, 0);
  EXPECT_EQ(p.map, 0);
  EXPECT_EQ(p.scope, 0);
  EXPECT_EQ(p.stage, 0);
  EXPECT_EQ(p.axis, 0);
  EXPECT_FALSE(p.per_result);
  EXPECT_EQ(Scope().parent, -1);
  EXPECT_EQ(Scope().depth, 0);
  EXPECT_EQ(Symbol().point, -1);
  const MemoryAccess a;
  EXPECT_EQ(a.point, -1);
  EXPECT_EQ(a.operand, -1);
  EXPECT_EQ(a.result, -1);
  EXPECT_EQ(a.vector_width, 1);
  EXPECT_EQ(a.bytes, 0);
  EXPECT_FALSE(a.masked);
  const Place place;
  EXPECT_EQ(place.kind, Place::kUnused);
  EXPECT_EQ(place.index, -1);
  EXPECT_EQ(place.offset, 0);
  EXPECT_EQ(place.bytes, 0);
  EXPECT_EQ(place.first, 0);
  EXPECT_EQ(place.last, 0);
  const Donation d;
  EXPECT_EQ(d.argument, -1);
  EXPECT_EQ(d.result, -1);
  EXPECT_EQ(d.step, -1);
  EXPECT_FALSE(d.in_place);
  EXPECT_EQ(BufferPlan().arena_bytes, 0);
  EXPECT_EQ(BufferPlan().temporary_bytes, 0);
  EXPECT_EQ(ComputationPlan().computation, -1);
  EXPECT_EQ(PlanCost().launches + PlanCost().bytes, 0);
  EXPECT_EQ(PlanCost().seconds, 0);
  EXPECT_EQ(DotTail().dot, -1);
  EXPECT_EQ(DotTail().exit, -1);
}

// All plans change with these.
TEST(Targets, AreThoseOfTheDesign) {
  const Target gpu = GpuTarget(), cpu = CpuTarget();
  EXPECT_EQ(gpu.bytes_per_second, 4.3e12);
  EXPECT_EQ(gpu.lanes_per_second, 33e12);
  EXPECT_EQ(gpu.launch_seconds, 2e-6);
  EXPECT_EQ(gpu.max_buffers, 24);
  EXPECT_EQ(gpu.max_instructions, 400);
  EXPECT_EQ(gpu.max_points, 800);
  EXPECT_EQ(gpu.max_predicates, 3);
  EXPECT_EQ(gpu.max_concatenated, 8);
  EXPECT_EQ(gpu.cached_bytes, 8 << 20);
  EXPECT_EQ(gpu.max_row_bytes, 200 << 10);
  EXPECT_EQ(gpu.vector_bytes, 16);
  EXPECT_EQ(gpu.parallel_units, 132);
  EXPECT_EQ(gpu.columns_per_block, 256);
  EXPECT_EQ(gpu.split_above_elements, 1024);
  EXPECT_EQ(gpu.alignment, 256);
  EXPECT_EQ(cpu.bytes_per_second, 2e10);
  EXPECT_EQ(cpu.lanes_per_second, 4e10);
  EXPECT_EQ(cpu.launch_seconds, 2e-7);
  EXPECT_EQ(cpu.max_concatenated, 4);
  EXPECT_EQ(cpu.cached_bytes, 1 << 20);
  EXPECT_EQ(cpu.max_row_bytes, 256 << 10);
  EXPECT_EQ(cpu.vector_bytes, 32);
  EXPECT_EQ(cpu.parallel_units, 2);
  EXPECT_EQ(cpu.split_above_elements, int64_t{1} << 62);
  EXPECT_EQ(cpu.alignment, 64);
}

}  // namespace
}  // namespace hawser::plan
