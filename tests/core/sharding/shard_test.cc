// Functions cut into tasks: what these take and give, and that together they
// give the whole.
#include "core/sharding/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/registry.h"
#include "tests/core/sharding/formulas.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kShardedGraphs = 1000 * HAWSER_TIMES;

absl::StatusOr<Sharding> Sharded(
    const Module& module, absl::string_view text,
    ShardSpec::Unnamed unnamed = ShardSpec::Unnamed::kEveryIndex) {
  HAWSER_ASSIGN_OR_RETURN(ShardSpec spec, ParseShardSpec(text));
  spec.unnamed = unnamed;
  return Shard(module, spec);
}

TEST(Shard, TheSeedsExample) {
  const Module module = SeedModule();
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, Sharded(module, "1.4=1+1"));
  ASSERT_EQ(sharding.tasks.size(), 4u);
  for (int t = 0; t < 4; ++t) {
    const ShardTask& task = sharding.tasks[t];
    EXPECT_EQ(task.module, sharding.tasks[0].module);
    const int64_t row = t / 2, column = t % 2;
    EXPECT_THAT(
        task.takes,
        ElementsAre(
            Piece{0, {{row, row + 1}, {0, 2}, {0, 3}}},
            Piece{1, {{0, 1}, {0, 1}, {0, 3}, {0, 2}, {column, column + 1}}}));
    EXPECT_THAT(task.gives,
                ElementsAre(Piece{0, {{row, row + 1}, {column, column + 1}}}));
  }
  ASSERT_OK_AND_ASSIGN(const auto results, RunTasks(sharding, SeedArguments()));
  EXPECT_THAT(results[0], LiteralBitEquals(Literal::Of<float>(
                              {319, 340, 823, 880}, {2, 2})));
}

TEST(Shard, TheSeedsExampleExplained) {
  ASSERT_OK_AND_ASSIGN(
      const Sharding sharding,
      Sharded(SeedModule(), "1.4=1+1 0.0* 0.2/3", ShardSpec::Unnamed::kWhole));
  EXPECT_EQ(Explain(sharding, 2),
            "(f32[2,2,3], s32[1,1,3,2,2]) -> (f32[2,2]): 4 tasks, 1 modules\n"
            "axis 0.0 r0.0 = 1+1\n"
            "axis 0.2 = 1+1+1\n"
            "axis 1.4 r0.1 = 1+1\n"
            "note: axis 2 of argument 0 is whole: dot_general takes all of it\n"
            "task 0: 0[0:1, 0:2, 0:3] 1[0:1, 0:1, 0:3, 0:2, 0:1] -> "
            "r0[0:1, 0:1]\n"
            "task 1: 0[0:1, 0:2, 0:3] 1[0:1, 0:1, 0:3, 0:2, 1:2] -> "
            "r0[0:1, 1:2]\n"
            "...\n");
  ASSERT_OK_AND_ASSIGN(ShardSpec strict, ParseShardSpec("0.2/3"));
  strict.strict = true;
  EXPECT_THAT(Shard(SeedModule(), strict),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "axis 2 of argument 0 is whole: dot_general"));
}

TEST(Shard, NotesSayWhereACutEnds) {
  const Module module = SeedModule();
  ASSERT_OK_AND_ASSIGN(ShardSpec spec, ParseShardSpec("0.2/3 1.4=1+1"));
  ASSERT_OK_AND_ASSIGN(const auto notes, NotesOf(module, spec));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].cut, spec.parameters[0]);
  EXPECT_EQ(module.entry().instructions()[notes[0].instruction].op,
            &kDotGeneral);
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, Shard(module, spec));
  ASSERT_EQ(sharding.notes.size(), 1u);
  EXPECT_EQ(sharding.notes[0].why, notes[0].why);
  EXPECT_EQ(sharding.notes[0].instruction, notes[0].instruction);
  spec.contracted = ShardSpec::Contracted::kSplit;
  ASSERT_OK_AND_ASSIGN(const auto split, NotesOf(module, spec));
  EXPECT_TRUE(split.empty());
  spec.max_tasks = 2;
  EXPECT_THAT(NotesOf(module, spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "3 parts are more than 2 tasks"));
}

TEST(Shard, TheSeedsExampleWithSplitContraction) {
  const Module module = SeedModule();
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       Sharded(module, "0.0* 0.1/2 0.2/3 1.4=1+1 split",
                               ShardSpec::Unnamed::kWhole));
  // A product of one number by one for each of 4 elements and 6 cells; a sum
  // for each element.
  ASSERT_EQ(sharding.tasks.size(), 28u);
  EXPECT_TRUE(sharding.notes.empty());
  EXPECT_THAT(sharding.tasks[0].takes,
              ElementsAre(Piece{0, {{0, 1}, {0, 1}, {0, 1}}},
                          Piece{1, {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}}}));
  EXPECT_EQ(sharding.tasks[27].takes.size(), 6u);
  const Exchange exchange = ExchangeOf(sharding);
  EXPECT_EQ(exchange.stages, 2);
  EXPECT_EQ(exchange.bytes, 24 * 4);
  ASSERT_OK_AND_ASSIGN(const auto results, RunTasks(sharding, SeedArguments()));
  EXPECT_THAT(results[0], LiteralBitEquals(Literal::Of<float>(
                              {319, 340, 823, 880}, {2, 2})));
}

TEST(Shard, TheSeedsExampleSplitExplained) {
  ASSERT_OK_AND_ASSIGN(
      const Sharding sharding,
      Sharded(SeedModule(), "0.2/2 split", ShardSpec::Unnamed::kWhole));
  EXPECT_EQ(Explain(sharding, 3),
            "(f32[2,2,3], s32[1,1,3,2,2]) -> (f32[2,2]): 3 tasks, 3 modules, "
            "2 stages, 32 bytes between tasks\n"
            "axis 0.2 1.2 = 2+1\n"
            "task 0: 0[0:2, 0:2, 0:2] 1[0:1, 0:1, 0:2, 0:2, 0:2] -> "
            "b0[0:2, 0:2]\n"
            "task 1: 0[0:2, 0:2, 2:3] 1[0:1, 0:1, 2:3, 0:2, 0:2] -> "
            "b1[0:2, 0:2]\n"
            "task 2: b0[0:2, 0:2] b1[0:2, 0:2] -> r0[0:2, 0:2]\n");
}

TEST(Shard, AContractionOverACutAxisIsRefused) {
  const Module module = ModuleOf({F32({8, 4}), F32({4, 6})}, [](const auto& p) {
    return Formulas{Product(p[0], p[1])};
  });
  for (const char* cuts : {"0.1/2 refuse", "1.-2* refuse"}) {
    EXPECT_THAT(ShardBy(module, cuts),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "dot_general needs all of axis 1 of its operand 0, "
                         "f32[8,4], which is cut: the spec refuses that"));
  }
  ASSERT_OK_AND_ASSIGN(const Sharding rows, ShardBy(module, "0.0/2 refuse"));
  EXPECT_EQ(rows.tasks.size(), 2u);
}

TEST(Shard, StrictTakesASplitForWhatWasWanted) {
  const Module module = ModuleOf(
      {F32({8, 4})}, [](const auto& p) { return Formulas{Summed(p[0], {1})}; });
  for (const bool split : {true, false}) {
    ASSERT_OK_AND_ASSIGN(ShardSpec spec, ParseShardSpec("0.0. 0.1/2"));
    spec.strict = true;
    if (split) spec.contracted = ShardSpec::Contracted::kSplit;
    EXPECT_EQ(Shard(module, spec).ok(), split);
  }
}

TEST(Shard, ResultsWithUnrelatedCutsAreTasksOfTheirOwn) {
  const Module module = ModuleOf({F32({100}), F32({100})}, [](const auto& p) {
    return Formulas{p[0] + p[0], p[1] * p[1], SummedAll(p[0])};
  });
  ASSERT_OK_AND_ASSIGN(ShardSpec spec, ParseShardSpec("0.0* 1.0/3"));
  spec.max_tasks = 103;
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, Shard(module, spec));
  EXPECT_EQ(sharding.tasks.size(), 103u);
  ExpectWhole(module, sharding, 5);
}

TEST(Shard, EveryIndexOfContractedAxesIsMergedToo) {
  const Module module = ModuleOf({F32({100, 100})}, [](const auto& p) {
    return Formulas{SummedAll(p[0])};
  });
  ASSERT_OK_AND_ASSIGN(ShardSpec spec, ParseShardSpec("0.0* 0.1* split"));
  spec.max_tasks = 64;
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, Shard(module, spec));
  EXPECT_LE(sharding.tasks.size(), 64u);
  EXPECT_GT(sharding.tasks.size(), 16u);
  ExpectWhole(module, sharding, 3);
  ASSERT_OK_AND_ASSIGN(ShardSpec named, ParseShardSpec("0.0/50 0.1/50 split"));
  named.max_tasks = 2499;
  EXPECT_THAT(Shard(module, named),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the cuts make 2500 tasks, at most 2499"));
}

TEST(Shard, AxesThatNoCutNamesAreNotSplit) {
  const Module module = ModuleOf(
      {F32({8, 4})}, [](const auto& p) { return Formulas{Summed(p[0], {1})}; });
  ASSERT_OK_AND_ASSIGN(const ShardSpec spec, ParseShardSpec("0.0/2 split"));
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, Shard(module, spec));
  EXPECT_EQ(sharding.tasks.size(), 2u);
  EXPECT_TRUE(sharding.between.empty());
}

TEST(Shard, TheSeedsExampleWithWholeRows) {
  const Module module = SeedModule();
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       Sharded(module, "0.0. 0.1. 1.4=1+1"));
  ASSERT_EQ(sharding.tasks.size(), 2u);
  EXPECT_EQ(sharding.tasks[1].takes[0].box, (Box{{0, 2}, {0, 2}, {0, 3}}));
}

TEST(Shard, RowsOfOneAndColumnsOfTheOtherAreAGrid) {
  const Module sum = ModuleOf({F32({3, 3}), F32({3, 3})}, [](const auto& p) {
    return Formulas{p[0] + p[1]};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       Sharded(sum, "0.0* 1.1*", ShardSpec::Unnamed::kWhole));
  EXPECT_EQ(sharding.tasks.size(), 9u);
  std::set<const Module*> modules;
  for (const ShardTask& task : sharding.tasks)
    modules.insert(task.module.get());
  EXPECT_EQ(modules.size(), 1u);
}

TEST(Shard, AClassThatCutsAResultTwiceGivesAllOfIt) {
  const Module square = ModuleOf({F32({4, 4})}, [](const auto& p) {
    return Formulas{p[0] + Transposed(p[0], {1, 0})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       Sharded(square, "0.0/2", ShardSpec::Unnamed::kWhole));
  ExpectWhole(square, sharding, 1);
}

TEST(Shard, AClassThatIsContractedAndKeptIsSplit) {
  const Module square = ModuleOf({F32({6, 6})}, [](const auto& p) {
    const Expression both = p[0] + Transposed(p[0], {1, 0});
    return Formulas{Summed(both, {0}), Product(both, both)};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(square, "0.0/3 split"));
  ExpectWhole(square, sharding, 1);
  // Sums of three parts by three, products of three by nine, and what they add
  // up to.
  EXPECT_EQ(sharding.between.size(), 6u);
  EXPECT_EQ(sharding.tasks.size(), 27u + 9u);
}

// Two blocks of a product: the corners beside them are not given.
TEST(Shard, OnlyWhatIsTakenGoesBetweenTasks) {
  const Module blocks = ModuleOf({F32({8, 6})}, [](const auto& p) {
    const Expression product = Product(Transposed(p[0], {1, 0}), p[0]);
    const Box all = {{0, 6}, {0, 6}};
    return Formulas{SliceTo(product, all, {{0, 3}, {0, 3}}),
                    SliceTo(product, all, {{3, 6}, {3, 6}})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(blocks, "0.0/2 split"));
  ASSERT_EQ(sharding.tasks.size(), 3u);
  EXPECT_THAT(sharding.tasks[1].gives, ElementsAre(Piece{3, {{0, 3}, {0, 3}}},
                                                   Piece{3, {{3, 6}, {3, 6}}}));
  EXPECT_EQ(ExchangeOf(sharding).bytes, 2 * 2 * 9 * 4);
  ExpectWhole(blocks, sharding, 2);
}

TEST(Shard, CutsGoThroughReshapes) {
  const struct {
    Dims from, to;
    const char* cuts;
    size_t tasks;
  } kCases[] = {
      {{2, 4}, {8}, "0.0* 0.1*", 8},      {{2, 4}, {8}, "0.0*", 2},
      {{2, 4}, {8}, "0.1*", 1},           {{8}, {2, 4}, "0.0/2", 2},
      {{6, 4}, {4, 6}, "0.0/2", 2},       {{3, 2}, {2, 3}, "0.0*", 1},
      {{1, 1, 4}, {4}, "0.2*", 4},        {{0, 3}, {3, 0}, "0.1*", 1},
      {{4, 12}, {4, 2, 3, 2}, "0.0*", 4},
  };
  for (const auto& c : kCases) {
    const Module module = ModuleOf({F32(c.from)}, [&](const auto& p) {
      return Formulas{Reshaped(p[0], c.to)};
    });
    ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                         Sharded(module, c.cuts, ShardSpec::Unnamed::kWhole));
    EXPECT_EQ(sharding.tasks.size(), c.tasks)
        << Shape::Of(DType::kF32, c.from).ToString() << " " << c.cuts;
    ExpectWhole(module, sharding, 7);
  }
}

TEST(Shard, EveryIndexIsMergedUntilThereAreFewEnoughTasks) {
  const Module module = ModuleOf(
      {F32({100, 100})}, [](const auto& p) { return Formulas{p[0] + p[0]}; });
  ShardSpec spec;
  spec.max_tasks = 64;
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, Shard(module, spec));
  EXPECT_LE(sharding.tasks.size(), 64u);
  EXPECT_GT(sharding.tasks.size(), 16u);
  ExpectWhole(module, sharding, 3);
  ASSERT_OK_AND_ASSIGN(ShardSpec named, ParseShardSpec("0.0/10 0.1/10"));
  named.max_tasks = 64;
  EXPECT_THAT(Shard(module, named),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the cuts make 100 tasks, at most 64"));
}

// ---- random graphs ----------------------------------------------------------

TEST(Shard, RandomGraphsByRandomSpecsAreTheWhole) {
  int64_t tasks = 0, cut = 0, split = 0, refused = 0;
  for (uint64_t seed = 0; seed < kShardedGraphs; ++seed) {
    Random random(seed);
    const Module module = RandomModule(seed, {.instructions = 12});
    const ShardSpec spec = RandomSpec(module.signature(), random);
    const auto sharding = Shard(module, spec);
    if (absl::IsInvalidArgument(sharding.status())) {
      ++refused;  // more tasks than 64
      continue;
    }
    ASSERT_OK(sharding) << "seed " << seed << " " << ToString(spec);
    tasks += static_cast<int64_t>(sharding->tasks.size());
    cut += sharding->tasks.size() > 1 ? 1 : 0;
    split += sharding->between.empty() ? 0 : 1;
    ExpectWhole(module, *sharding, seed);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  std::cout << kShardedGraphs << " graphs, " << cut << " of them cut, " << split
            << " split, " << tasks << " tasks; " << refused << " refused\n";
  EXPECT_GT(cut, static_cast<int64_t>(kShardedGraphs / 10));
  EXPECT_GT(split, static_cast<int64_t>(kShardedGraphs / 50));
}

// Whether no value is rounded, so that no order of a sum matters.
bool IsOfIntegers(const Module& module) {
  for (const Computation& computation : module.computations()) {
    for (ValueId value = 0; value < computation.num_values(); ++value) {
      const DType dtype = computation.shape(value).dtype();
      if (IsFloat(dtype) || IsComplex(dtype)) return false;
    }
  }
  return true;
}

// Of ops that are split, and some between them; of integers, so bit by bit.
TEST(Shard, GraphsOfContractionsAreTheWhole) {
  std::vector<const OpDef*> ops = {&kAdd,     &kMultiply,       &kTranspose,
                                   &kReshape, &kBroadcastInDim, &kConcatenate};
  for (const OpDef* op : AllOps()) {
    if (op->split != nullptr) ops.insert(ops.end(), 2, op);
  }
  int64_t split = 0, stages = 0;
  for (uint64_t seed = 0; seed < kShardedGraphs / 2; ++seed) {
    Random random(seed);
    const Module module = RandomModule(seed, {.instructions = 16,
                                              .max_elements = 512,
                                              .dtypes = kBoolOnly | kInts,
                                              .ops = ops});
    if (!IsOfIntegers(module)) continue;
    ShardSpec spec = RandomSpec(module.signature(), random);
    spec.contracted = ShardSpec::Contracted::kSplit;
    spec.max_tasks = 512;
    const auto sharding = Shard(module, spec);
    if (absl::IsInvalidArgument(sharding.status())) continue;
    ASSERT_OK(sharding) << "seed " << seed << " " << ToString(spec);
    split += sharding->between.empty() ? 0 : 1;
    stages += ExchangeOf(*sharding).stages > 2 ? 1 : 0;
    ExpectWhole(module, *sharding, seed);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  std::cout << split << " of " << kShardedGraphs / 2
            << " graphs of contractions split, " << stages
            << " in more than two stages\n";
  EXPECT_GT(split, static_cast<int64_t>(kShardedGraphs / 8));
  EXPECT_GT(stages, 0);
}

}  // namespace
}  // namespace hawser
