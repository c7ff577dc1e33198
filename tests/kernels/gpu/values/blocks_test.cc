// Scans, sorts and random bits on an emulated device, through a client: where
// the engine runs them, and what is true of results that no oracle has.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/ops/expression.h"
#include "core/ops/formulas/random.h"
#include "core/passes/optimize.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/emit/block_graphs.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::gpu {
namespace {

// u32[n] of a key, as clients send it.
Module Words(int64_t n) {
  auto module = Optimize(testing::ExpressionModule(
      {Shape::Of(DType::kU32, {2})}, [&](const auto& p) {
        return std::vector<Expression>{formulas::ThreefryWords(p[0], n)};
      }));
  EXPECT_OK(module);
  return module.ok() ? *std::move(module) : Module("none");
}

// The bits of all elements, in order of their numbers.
std::vector<uint32_t> SortedBits(const Literal& values) {
  std::vector<uint32_t> bits(values.shape().num_elements());
  std::memcpy(bits.data(), values.bytes().data(), values.bytes().size());
  std::sort(bits.begin(), bits.end());
  return bits;
}

// With NaN compare(LT) is no order: elements stay what they are, none is lost
// and none is there twice, and every input has moved alike.
TEST(GpuBlocks, SortsByNoOrderAreStillPermutations) {
  Rig rig;
  for (const int64_t n : {100, 1024, 1025, 4097}) {
    const Module module =
        SortModule(SortBody::kLess, {DType::kF32, DType::kF32}, {n}, 0);
    Random random(static_cast<uint64_t>(n));
    const Shape shape = Shape::Of(DType::kF32, {n});
    const Literal x = RandomLiteral(shape, random, /*extremes=*/true);
    ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
    EXPECT_FALSE(run->blocks()) << run->Explain();
    ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {x, x}));
    EXPECT_EQ(SortedBits(got[0]), SortedBits(x));
    EXPECT_EQ(got[0].bytes(), got[1].bytes());
  }
}

// More than 1,024 tiles, whose counts a block adds up.
TEST(GpuBlocks, SortsByDigitsOfAThousandTiles) {
  Rig rig;
  const Shape shape = Shape::Of(DType::kS8, {1024 * 4096 + 1});
  const Module module =
      SortModule(SortBody::kDescending, {DType::kS8}, shape.dims(), 0);
  Random random(5);
  const Literal x = RandomLiteral(shape, random, /*extremes=*/true);
  ASSERT_OK_AND_ASSIGN(const Values want, Reference(module, {x}));
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
  EXPECT_FALSE(run->blocks()) << run->Explain();
  ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {x}));
  EXPECT_EQ(got[0].bytes(), want[0].bytes());
}

TEST(GpuBlocks, NothingOfAScanRunsOnTheHost) {
  Rig rig({.has_host = false});
  const Module module =
      ScanModule(ScanBody::kRecurrence, {DType::kF32, DType::kF32}, {3, 20000},
                 1, /*reverse=*/true);
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
  EXPECT_FALSE(run->blocks()) << run->Explain();
}

// Random bits are a formula over iota: one loop kernel, whose words are those
// of the CPU, and of the paper's own test for a key and counters of 0.
TEST(GpuBlocks, ThreefryIsOneLoopKernelOfTheSameBits) {
  Rig rig;
  for (const int64_t n : {1, 2, 7, 1000, 1025}) {
    SCOPED_TRACE(n);
    const Module module = Words(n);
    ASSERT_OK_AND_ASSIGN(const plan::Plan plan,
                         plan::MakePlan(module, plan::GpuTarget()));
    std::vector<plan::RegionKind> launched;
    for (const plan::Region& r : plan.entry().regions) {
      if (r.launches > 0) launched.push_back(r.kind);
    }
    EXPECT_THAT(launched, ::testing::ElementsAre(plan::RegionKind::kLoop));
    for (const uint32_t word : {0u, 0xdeadbeefu}) {
      const Literal key = Literal::Of<uint32_t>({word, word}, {2});
      ASSERT_OK_AND_ASSIGN(const Values want, Reference(module, {key}));
      ASSERT_OK_AND_ASSIGN(const ExecutablePtr run, rig.Compile(module));
      ASSERT_OK_AND_ASSIGN(const Values got, RunOn(run, {key}));
      EXPECT_EQ(got[0].bytes(), want[0].bytes());
      if (word == 0 && n == 1) {
        EXPECT_EQ(got[0].data<uint32_t>()[0], 0x6b200159u);
      }
    }
  }
}

}  // namespace
}  // namespace hawser::gpu
