// Random graphs, planned, emitted and run: every region against the reference.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/ops/control.h"
#include "core/ops/elementwise.h"
#include "core/ops/registry.h"
#include "core/ops/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/kernels/gpu/emit/region_batch.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random_literal.h"
#include "tests/testing/random_module.h"

namespace hawser::gpu {
namespace {

int NumGraphs() {
  const char* text = std::getenv("HAWSER_EMIT_GRAPHS");
  int count = 0;
  return text != nullptr && absl::SimpleAtoi(text, &count) ? count : 300;
}

std::vector<const OpDef*> OpsOfRegions() {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : AllOps()) {
    if (op != &kFusion && op != &kWhile && op != &kCase) ops.push_back(op);
  }
  return ops;
}

// Every third target has no cache to read across, and splits what is short.
plan::Target TargetOf(int seed) {
  plan::Target target = plan::GpuTarget();
  if (seed % 3 == 0) {
    target.cached_bytes = 0;
    target.split_above_elements = 1;
  }
  return target;
}

void AddGraphs(int count, RandomModuleOptions options, RegionBatch* batch) {
  const int most = options.instructions;
  for (int seed = 0; seed < count; ++seed) {
    options.instructions = most / 4 + seed % most;
    const Module module = RandomModule(seed, options);
    Random random(seed);
    const auto arguments =
        RandomArguments(module.signature(), random, seed % 2 == 0);
    ASSERT_OK_AND_ASSIGN(const plan::Plan plan,
                         plan::MakePlan(module, TargetOf(seed)));
    batch->Add(plan, arguments, absl::StrCat("seed ", seed));
    if (testing::Test::HasFailure()) break;
  }
  batch->Run();
}

TEST(RandomRegions, ComputeWhatTheReferenceDoes) {
  RegionBatch batch;
  const int count = NumGraphs();
  AddGraphs(count, {.instructions = 36, .ops = OpsOfRegions()}, &batch);
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
  // Seven kinds and eight edges; only what the README names is refused.
  EXPECT_EQ(batch.counts().size(), 15u);
  for (const auto& [why, number] : batch.refused()) {
    EXPECT_THAT(why, testing::HasSubstr("windows that overlap")) << number;
  }
}

// The same bits where no half is among the dtypes.
TEST(RandomRegions, ComputeTheSameWithoutStrict) {
  RegionBatch batch({.emit = {.multiprocessors = 2}});
  const DTypeSet dtypes = kInts | kBoolOnly | DTypeSet::Of(DType::kF32) |
                          DTypeSet::Of(DType::kF64);
  AddGraphs(NumGraphs() / 10,
            {.instructions = 36, .dtypes = dtypes, .ops = OpsOfRegions()},
            &batch);
}

}  // namespace
}  // namespace hawser::gpu
