// Contractions split by parts of the axes they contract: the split module is
// the module, rule by rule and on random graphs.
#include "core/sharding/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/registry.h"
#include "tests/core/sharding/formulas.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

constexpr uint64_t kSplitGraphs = 500;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
// Even, uneven, with empty parts, of one element each.
constexpr const char* kCutsOfSeven[] = {"0.0/2 split", "0.-2=1+0+5+1 split",
                                        "0.0=0+7+0 split", "0.0* split"};

absl::StatusOr<SplitModule> SplitBy(const Module& module,
                                    absl::string_view text) {
  HAWSER_ASSIGN_OR_RETURN(ShardSpec spec, ParseShardSpec(text));
  spec.unnamed = ShardSpec::Unnamed::kWhole;
  HAWSER_ASSIGN_OR_RETURN(const Cuts cuts, Cuts::Make(module, spec));
  return Split(module, cuts);
}

// The number of partial values.
size_t ExpectSplitIsWhole(const Module& module, absl::string_view text,
                          absl::Span<const Literal> arguments,
                          const Tolerance& tolerance) {
  const auto split = SplitBy(module, text);
  EXPECT_OK(split) << text;
  if (!split.ok()) return 0;
  const auto whole = RunModule(module, arguments);
  const auto got = RunModule(split->module, arguments);
  EXPECT_OK(whole);
  EXPECT_OK(got) << Print(split->module);
  if (!whole.ok() || !got.ok()) return 0;
  for (size_t k = 0; k < whole->size(); ++k) {
    EXPECT_OK(CompareLiterals((*got)[k], (*whole)[k], tolerance))
        << text << "\n"
        << Print(split->module);
  }
  return split->partials.size();
}

// By each of kCutsOfSeven, on small whole numbers and on others.
void ExpectSevenSplitIsWhole(const Module& module, bool exact) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    const auto arguments =
        RandomArguments(module.signature(), random, /*extremes=*/exact);
    for (const char* cuts : kCutsOfSeven) {
      const size_t partials = ExpectSplitIsWhole(
          module, cuts, arguments,
          exact ? Tolerance{.bits = true} : ToleranceOf(module));
      EXPECT_EQ(partials > 0, cuts != kCutsOfSeven[2]) << cuts;
    }
  }
}

TEST(Split, EveryOpThatContractsHasARule) {
  int contracting = 0;
  for (const OpDef* op : AllOps()) {
    if (op->Is(kNullary)) continue;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      const Module module =
          RandomModule(seed, {.instructions = 1, .ops = {op}});
      for (const Instruction& one : module.entry().instructions()) {
        if (one.op != op) continue;
        std::vector<Shape> operands, results;
        std::vector<const Signature*> called;
        for (ValueId v : one.operands) {
          operands.push_back(module.entry().shape(v));
        }
        for (int k = 0; k < one.num_results; ++k) {
          results.push_back(module.entry().shape(one.first_result + k));
        }
        for (int c : one.called) called.push_back(&module.signature(c));
        const AxisMap map =
            op->axes({*op, operands, one.attributes, called}, results);
        for (const AxisMap::Factor& factor : map.factors) {
          if (factor.kind != AxisKind::kContracted) continue;
          ++contracting;
          EXPECT_NE(op->split, nullptr) << op->name;
        }
      }
    }
  }
  EXPECT_GT(contracting, 0);
}

TEST(Split, ReducesByEveryMonoidOfEveryDType) {
  int pairs = 0;
  for (const OpDef* op : AllOps()) {
    if (!op->monoid) continue;
    for (DType dtype : AllDTypes()) {
      if (!op->dtypes.Has(dtype) ||
          (IsComplex(dtype) && op->monoid.neutral > MonoidDef::kOne)) {
        continue;
      }
      ++pairs;
      const Module module =
          ModuleOf({Shape::Of(dtype, {7, 3})}, [&](const auto& p) {
            return Formulas{Folded(*op, p[0], NeutralOf(*op, dtype), {0}),
                            Folded(*op, p[0], NeutralOf(*op, dtype), {1, 0})};
          });
      const bool rounds = (op == &kAdd || op == &kMultiply) &&
                          (IsFloat(dtype) || IsComplex(dtype));
      ExpectSevenSplitIsWhole(module, !rounds);
    }
  }
  EXPECT_GT(pairs, 40);
}

// The larger, and where it stands: both values at once, by hand.
TEST(Split, ReducesByAComputationOfTwoValues) {
  Module module("two");
  ComputationBuilder c(&module, "larger");
  std::vector<ValueId> x;
  for (DType d : {DType::kF32, DType::kS32, DType::kF32, DType::kS32}) {
    x.push_back(c.Parameter(Shape::Scalar(d)));
  }
  const ValueId left =
      c.Add(kCompare, {x[0], x[2]}, {{"direction", std::string("GE")}});
  ASSERT_OK_AND_ASSIGN(const int larger,
                       c.Finish({c.Add(kSelect, {left, x[0], x[2]}),
                                 c.Add(kSelect, {left, x[1], x[3]})}));
  ComputationBuilder b(&module, "main");
  const ValueId values = b.Parameter(F32({7, 2}));
  const ValueId places = b.Parameter(Shape::Of(DType::kS32, {7, 2}));
  const ValueId low = b.Constant(NeutralOf(kMaximum, DType::kF32));
  const ValueId none = b.Constant(Literal::Scalar<int32_t>(-1));
  const ValueId first = b.Add(kReduce, {values, places, low, none},
                              {{"dimensions", Dims{0}}}, {larger});
  ASSERT_OK(b.Finish({first, first + 1}));
  std::vector<float> v;
  std::vector<int32_t> at;
  for (int i = 0; i < 14; ++i) {
    v.push_back(static_cast<float>(i * 5 % 13));
    at.push_back(i);
  }
  for (const char* cuts : kCutsOfSeven) {
    ExpectSplitIsWhole(module, cuts,
                       {Literal::Of<float>(absl::MakeConstSpan(v), {7, 2}),
                        Literal::Of<int32_t>(absl::MakeConstSpan(at), {7, 2})},
                       {.bits = true});
  }
}

TEST(Split, DotsOfEveryDType) {
  for (DType dtype : AllDTypes()) {
    if (!kDotGeneral.dtypes.Has(dtype)) continue;
    const Module module =
        ModuleOf({Shape::Of(dtype, {7, 3}), Shape::Of(dtype, {2, 7})},
                 [](const auto& p) {
                   return Formulas{Product(Transposed(p[0], {1, 0}),
                                           Transposed(p[1], {1, 0}))};
                 });
    ExpectSevenSplitIsWhole(module, IsInteger(dtype));
  }
}

TEST(Split, DotsInEveryWiderDType) {
  int pairs = 0;
  for (DType from : AllDTypes()) {
    for (DType to : AllDTypes()) {
      if (!kDotGeneral.dtypes.Has(from) || !WidensProduct(from, to)) continue;
      ++pairs;
      const Module module =
          ModuleOf({Shape::Of(from, {7, 3}), Shape::Of(from, {2, 7})},
                   [&](const auto& p) {
                     return Formulas{Product(Transposed(p[0], {1, 0}),
                                             Transposed(p[1], {1, 0}), to)};
                   });
      ExpectSevenSplitIsWhole(module, IsInteger(to));
    }
  }
  EXPECT_EQ(pairs, 18);
}

// Batches, and two contracted axes, one of which is cut on the right.
TEST(Split, DotsOverTwoAxesAreAProductOfCells) {
  const Shape s32 = Shape::Of(DType::kS32, {2, 4, 5});
  const Module module = ModuleOf({s32, s32}, [](const auto& p) {
    return Formulas{Apply(kDotGeneral, {p[0], p[1]},
                          {{"lhs_batching_dimensions", Dims{0}},
                           {"lhs_contracting_dimensions", Dims{2, 1}},
                           {"rhs_batching_dimensions", Dims{0}},
                           {"rhs_contracting_dimensions", Dims{2, 1}}})};
  });
  Random random(1);
  const auto arguments = RandomArguments(module.signature(), random);
  EXPECT_EQ(ExpectSplitIsWhole(module, "0.1/2 1.2=2+1+2 split", arguments,
                               {.bits = true}),
            6u);
}

// None of the partial sums but 256 is a bf16.
TEST(Split, PartialSumsHaveTheDTypeOfTheProduct) {
  const Module module = ModuleOf({F32({1, 4}), F32({4, 1})}, [&](auto& p) {
    return Formulas{Product(ConvertTo(p[0], DType::kBF16),
                            ConvertTo(p[1], DType::kBF16), DType::kF32)};
  });
  const std::vector<Literal> arguments = {
      Literal::Of<float>({256, 1, 255, 1}, {1, 4}),
      Literal::Of<float>({1, 1, 255, 1}, {4, 1})};
  ExpectSplitIsWhole(module, "0.1* split", arguments, {.bits = true});
  ASSERT_OK_AND_ASSIGN(const SplitModule split, SplitBy(module, "0.1* split"));
  ASSERT_OK_AND_ASSIGN(const auto got, RunModule(split.module, arguments));
  EXPECT_EQ(got[0].data<float>()[0], 65283);
}

// 2048 + 1 is 2048 in f16: the sum is made in f32 and rounded once.
TEST(Split, DotsOfHalvesAreRoundedOnce) {
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    const Module module = ModuleOf({F32({1, 4}), F32({4, 1})}, [&](auto& p) {
      return Formulas{
          ConvertTo(Product(ConvertTo(p[0], dtype), ConvertTo(p[1], dtype)),
                    DType::kF32)};
    });
    const float large = dtype == DType::kF16 ? 2048.f : 256.f;
    const std::vector<Literal> arguments = {
        Literal::Of<float>({large, 1, 1, 0}, {1, 4}),
        Literal::Of<float>({1, 1, 1, 1}, {4, 1})};
    ExpectSplitIsWhole(module, "0.1* split", arguments, {.bits = true});
    ASSERT_OK_AND_ASSIGN(const SplitModule split,
                         SplitBy(module, "0.1* split"));
    ASSERT_OK_AND_ASSIGN(const auto got, RunModule(split.module, arguments));
    EXPECT_EQ(got[0].data<float>()[0], large + 2);
  }
}

Expression Found(const OpDef& op, const Expression& x, int64_t axis,
                 const char* tie, DType dtype) {
  return Apply(
      op, {x},
      {{"dimension", axis}, {"dtype", dtype}, {"tie", std::string(tie)}});
}

// Ones, cut: 1,004 is a half, 1,005 is none, and no place rounds.
TEST(Split, ReducesOfHalvesAreRoundedOnce) {
  int tried = 0;
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const int64_t count : {1005, 999, 300, 2051, 4097}) {
      const Shape shape = Shape::Of(dtype, {count, 2});
      const Module module = ModuleOf({shape}, [](const auto& p) {
        return Formulas{Summed(p[0], {0})};
      });
      const Literal want = ScalarOf(dtype, static_cast<double>(count));
      for (const char* text : {"0.0/2 split", "0.0/3 split", "0.0/7 split"}) {
        ASSERT_OK_AND_ASSIGN(const SplitModule split, SplitBy(module, text));
        Literal ones = Literal::Uninitialized(shape);
        for (int64_t i = 0; i < 2 * count; ++i) {
          std::memcpy(ones.mutable_bytes().data() + 2 * i,
                      ScalarOf(dtype, 1).bytes().data(), 2);
        }
        ASSERT_OK_AND_ASSIGN(const auto got,
                             RunModule(split.module, {&ones, 1}));
        EXPECT_EQ(std::string(got[0].bytes().data(), 2),
                  std::string(want.bytes().data(), 2))
            << count << " " << text;
        EXPECT_EQ(split.module.entry()
                      .shape(split.partials.at(0).value)
                      .dtype(),
                  DType::kF32);
        ++tried;
      }
    }
  }
  std::cout << tried << " cut sums of halves\n";
}

TEST(Split, ArgExtremesOfEveryDType) {
  for (const OpDef* op : {&kArgMax, &kArgMin}) {
    for (DType dtype : AllDTypes()) {
      if (!op->dtypes.Has(dtype)) continue;
      const Module module =
          ModuleOf({Shape::Of(dtype, {7, 3})}, [&](const auto& p) {
            return Formulas{Found(*op, p[0], 0, "low", DType::kS32),
                            Found(*op, p[0], 0, "high", DType::kU64),
                            Found(*op, p[0], 1, "high", DType::kU32)};
          });
      ExpectSevenSplitIsWhole(module, /*exact=*/true);
    }
  }
}

TEST(Split, ArgExtremesOfTiesZerosAndNaN) {
  const std::vector<std::vector<float>> kRows = {
      {1, 1, 1, 1, 1, 1, 1},
      {0, -0.f, 0, -0.f, 0, -0.f, -0.f},
      {-0.f, 0, -0.f, 0, 0, 0, 0},
      {1, 2, kNaN, 9, kNaN, 3, 9},
      {9, 2, 1, 9, 1, 3, kNaN},
      {kNaN, 2, 1, 9, 1, 3, 0},
      {-INFINITY, INFINITY, 1, 2, INFINITY, -INFINITY, 0}};
  for (const OpDef* op : {&kArgMax, &kArgMin}) {
    for (const char* tie : {"low", "high"}) {
      const Module module = ModuleOf({F32({7})}, [&](const auto& p) {
        return Formulas{Found(*op, p[0], 0, tie, DType::kS64)};
      });
      for (const std::vector<float>& row : kRows) {
        for (const char* cuts : {"0.0/2 split", "0.-1=1+0+5+1 split",
                                 "0.0* split", "0.0=3+4 split"}) {
          EXPECT_GT(ExpectSplitIsWhole(
                        module, cuts,
                        {Literal::Of<float>(absl::MakeConstSpan(row), {7})},
                        {.bits = true}),
                    0u);
        }
      }
    }
  }
}

// Rows of a table [7, 3], by indices of which some lie outside.
Expression RowsOf(const Expression& table, const Expression& indices) {
  return Apply(kGather, {table, indices},
               {{"collapsed_slice_dims", Dims{0}},
                {"index_vector_dim", int64_t{indices.rank()}},
                {"offset_dims", Dims{int64_t{indices.rank()}}},
                {"slice_sizes", Dims{1, 3}},
                {"start_index_map", Dims{0}}});
}

TEST(Split, GathersFromTablesOfEveryDType) {
  for (DType dtype : AllDTypes()) {
    const Module module =
        ModuleOf({Shape::Of(dtype, {7, 3}), Shape::Of(DType::kS8, {2, 5})},
                 [](const auto& p) { return Formulas{RowsOf(p[0], p[1])}; });
    ExpectSevenSplitIsWhole(module, /*exact=*/true);
  }
}

TEST(Split, GathersByIndicesOfEveryDType) {
  for (DType dtype : AllDTypes()) {
    if (!IsInteger(dtype)) continue;
    const Module module =
        ModuleOf({F32({7, 3}), Shape::Of(dtype, {9})},
                 [](const auto& p) { return Formulas{RowsOf(p[0], p[1])}; });
    ExpectSevenSplitIsWhole(module, /*exact=*/true);
  }
}

// Of each index vector, the second component is of axis 0 and the first of axis
// 1, which is a window; both axes are cut, or one.
TEST(Split, GathersByIndexVectors) {
  const Module module = ModuleOf(
      {F32({7, 6, 2}), Shape::Of(DType::kS32, {2, 8})}, [](const auto& p) {
        return Formulas{Apply(kGather, {p[0], p[1]},
                              {{"collapsed_slice_dims", Dims{0}},
                               {"index_vector_dim", int64_t{0}},
                               {"offset_dims", Dims{0, 2}},
                               {"slice_sizes", Dims{1, 1, 2}},
                               {"start_index_map", Dims{1, 0}}})};
      });
  Random random(3);
  const auto arguments = RandomArguments(module.signature(), random);
  for (const auto& [cuts, partials] : {std::pair("0.0/3 split", 3u),
                                       {"0.1/2 split", 2u},
                                       {"0.0/3 0.1=1+5 split", 6u},
                                       {"0.2/2 split", 0u}}) {
    EXPECT_EQ(ExpectSplitIsWhole(module, cuts, arguments, {.bits = true}),
              partials);
  }
}

TEST(Split, SlicesOfSeveralElementsStayWhole) {
  const Module module =
      ModuleOf({F32({7}), Shape::Of(DType::kS32, {4})}, [](const auto& p) {
        return Formulas{Apply(kGather, {p[0], p[1]},
                              {{"collapsed_slice_dims", Dims{}},
                               {"index_vector_dim", int64_t{1}},
                               {"offset_dims", Dims{1}},
                               {"slice_sizes", Dims{2}},
                               {"start_index_map", Dims{0}}})};
      });
  ASSERT_OK_AND_ASSIGN(const SplitModule split, SplitBy(module, "0.0/2 split"));
  EXPECT_TRUE(split.partials.empty());
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(module, "0.0/2 split"));
  EXPECT_EQ(sharding.tasks.size(), 1u);
  ASSERT_EQ(sharding.notes.size(), 1u);
  EXPECT_THAT(sharding.notes[0].why, ::testing::HasSubstr("gather"));
}

TEST(Split, RandomGraphsAreTheWhole) {
  int64_t split = 0, partials = 0;
  for (uint64_t seed = 0; seed < kSplitGraphs; ++seed) {
    Random random(seed);
    const Module module = RandomModule(seed, {.instructions = 12});
    ShardSpec spec = RandomSpec(module.signature(), random);
    spec.contracted = ShardSpec::Contracted::kSplit;
    const auto arguments =
        RandomArguments(module.signature(), random, !SumsFloats(module));
    const auto cuts = Cuts::Make(module, spec);
    ASSERT_OK(cuts) << "seed " << seed;
    const auto made = Split(module, *cuts);
    ASSERT_OK(made) << "seed " << seed;
    const auto whole = RunModule(module, arguments);
    const auto got = RunModule(made->module, arguments);
    ASSERT_OK(got) << "seed " << seed;
    for (size_t k = 0; k < whole->size(); ++k) {
      EXPECT_OK(CompareLiterals((*got)[k], (*whole)[k], ToleranceOf(module)))
          << "seed " << seed << ", result " << k << " " << ToString(spec)
          << "\n"
          << Print(module) << Print(made->module);
    }
    if (HasFailure()) return;
    split += made->partials.empty() ? 0 : 1;
    partials += static_cast<int64_t>(made->partials.size());
  }
  std::cout << kSplitGraphs << " graphs, " << split << " of them split, "
            << partials << " partial values\n";
  EXPECT_GT(split, static_cast<int64_t>(kSplitGraphs / 10));
}

}  // namespace
}  // namespace hawser
