// Random graphs, planned, emitted and run: every region against the reference.
#include <iostream>

#include "absl/strings/str_cat.h"
#include "core/ir/leaves.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernels/gpu/emit/random_graphs.h"
#include "tests/kernels/gpu/emit/region_batch.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser::gpu {
namespace {

bool HasHalves(const Module& module) {
  for (const Computation& c : module.computations()) {
    for (ValueId v = 0; v < c.num_values(); ++v) {
      const DType dtype = c.shape(v).dtype();
      if (dtype == DType::kF16 || dtype == DType::kBF16) return true;
    }
  }
  return false;
}

void AddGraphs(int count, const RandomModuleOptions& options,
               RegionBatch* batch, bool halves = true) {
  for (int seed = 0; seed < count; ++seed) {
    ASSERT_OK_AND_ASSIGN(const RandomGraph graph, DrawGraph(seed, options));
    if (!halves && HasHalves(graph.module)) continue;
    Random random(seed);
    const auto arguments =
        RandomArguments(graph.module.signature(), random, seed % 2 == 0);
    batch->Add(graph.plan, arguments, absl::StrCat("seed ", seed));
    if (testing::Test::HasFailure()) break;
  }
  batch->Run();
}

TEST(RandomRegions, ComputeWhatTheReferenceDoes) {
  RegionBatch batch;
  const int count = NumGraphs(300);
  AddGraphs(count, AllRegionOps(), &batch);
  // Most of what is transposed is fused where the rest is drawn as often.
  AddGraphs(count,
            {.instructions = 12,
             .max_elements = 64,
             .ops = {&kTranspose, &kTranspose, &kAdd, &kNegate}},
            &batch);
  for (const auto& [kind, number] : batch.counts()) {
    std::cout << number << "  " << kind << "\n";
    if (count >= 300) {
      EXPECT_GE(number, 50) << kind;
    }
  }
  // Eight kinds and eight edges; only what the README names is refused.
  EXPECT_EQ(batch.counts().size(), 16u);
  for (const auto& [why, number] : batch.refused()) {
    EXPECT_THAT(why, testing::HasSubstr("windows that overlap")) << number;
  }
}

// What of each op the graphs above draw is left to chance.
TEST(RandomRegions, ComputeEveryOpOnEveryKindOfNumber) {
  RegionBatch batch;
  for (const OpDef* op : AllRegionOps().ops) {
    if (op == &kParameter) continue;
    int seed = 0;
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kS32,
                              DType::kU64, DType::kC64, DType::kBool}) {
      const RandomModuleOptions options = {.instructions = 4,
                                           .max_elements = 32,
                                           .dtypes = DTypeSet::Of(dtype),
                                           .ops = {op}};
      ASSERT_OK_AND_ASSIGN(const RandomGraph graph, DrawGraph(++seed, options));
      Random random(seed);
      batch.Add(graph.plan, RandomArguments(graph.module.signature(), random),
                absl::StrCat(op->name, " on ", DTypeName(dtype)));
    }
  }
  batch.Run();
}

// The same bits where no half is among the dtypes: of one that is not rounded
// what jumps may be another number.
TEST(RandomRegions, ComputeTheSameWithoutStrict) {
  RegionBatch batch({.emit = {.multiprocessors = 2}});
  RandomModuleOptions options = AllRegionOps();
  options.dtypes =
      kInts | kBoolOnly | DTypeSet::Of(DType::kF32) | DTypeSet::Of(DType::kF64);
  AddGraphs(NumGraphs(300) / 10, options, &batch, /*halves=*/false);
}

}  // namespace
}  // namespace hawser::gpu
