// Counted loops by boxes give what their turns give one after the other.
#include "kernels/cpu/planned/boxed_loops.h"

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "core/base/threads/thread_pool.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cpu/planned/planned_program.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;
using ::testing::Not;

// A counter, a number that becomes smaller, two arrays that are made of each
// other, of the number, the counter, a row and a column.
constexpr char kTurn[] = R"(
  %6: s32[] = constant() value=s32[] {1}
  %7: s32[] = add(%0, %6)
  %8: f32[] = constant() value=f32[] {0.75}
  %9: f32[D] = broadcast_in_dim(%1) broadcast_dimensions=[] dims=[D]
  %10: f32[D] = broadcast_in_dim(%4) broadcast_dimensions=[1] dims=[D]
  %11: f32[D] = broadcast_in_dim(%5) broadcast_dimensions=[0] dims=[D]
  %12: f32[D] = multiply(%2, %9)
  %13: f32[D] = add(%12, %10)
  %14: f32[D] = convert(%3) dtype=f32
  %15: f32[D] = multiply(%14, %11)
  %16: f32[D] = subtract(%13, %15)
  %17: bool[D] = compare(%16, %2) direction="LT"
  %18: f32[D] = select(%17, %16, %2)
  %19: s32[D] = broadcast_in_dim(%7) broadcast_dimensions=[] dims=[D]
  %20: s32[D] = convert(%17) dtype=s32
  %21: s32[D] = multiply(%20, %19)
  %22: s32[D] = add(%3, %21)
  %23: f32[] = multiply(%1, %8)
  return %7, %23, %18, %22
)";
// The number is an element of an array.
constexpr char kTellsAnElement[] = R"(
  %6: s32[] = constant() value=s32[] {1}
  %7: s32[] = add(%0, %6)
  %8: f32[1,1] = slice(%2) start_indices=[0,0] limit_indices=[1,1] strides=[1,1]
  %9: f32[] = reshape(%8) dims=[]
  %10: f32[D] = broadcast_in_dim(%1) broadcast_dimensions=[] dims=[D]
  %11: f32[D] = subtract(%2, %10)
  return %7, %9, %11, %3
)";
constexpr char kReadsANeighbour[] = R"(
  %6: s32[] = constant() value=s32[] {1}
  %7: s32[] = add(%0, %6)
  %8: f32[D] = reverse(%2) dimensions=[1]
  %9: f32[D] = subtract(%2, %8)
  return %7, %1, %9, %3
)";
constexpr char kChangesPlaces[] = R"(
  %6: s32[] = constant() value=s32[] {1}
  %7: s32[] = add(%0, %6)
  %8: f32[D] = convert(%3) dtype=f32
  %9: s32[D] = convert(%2) dtype=s32
  return %7, %1, %8, %9
)";

Module LoopModule(const std::string& turn, const std::string& dims, int trips) {
  const std::string state =
      "(%0: s32[], %1: f32[], %2: f32[D], %3: s32[D], %4: f32[C], %5: f32[R])";
  const std::string text = absl::StrCat(
      "module \"loop\"\ncomputation @0 \"below\" ", state,
      " {\n  %6: s32[] = constant() value=s32[] {", trips,
      "}\n  %7: bool[] = compare(%0, %6) direction=\"LT\"\n  return %7\n}\n"
      "computation @1 \"turn\" ",
      state, " {", turn,
      "}\ncomputation @2 \"main\" (%0: f32[], %1: f32[D], %2: s32[D], "
      "%3: f32[C], %4: f32[R]) {\n"
      "  %5: s32[] = constant() value=s32[] {0}\n"
      "  %6: s32[], %7: f32[], %8: f32[D], %9: s32[D] = while(%5, %0, %1, %2, "
      "%3, %4) num_invariant=2 @0 @1\n"
      "  return %6, %7, %8, %9\n}\n");
  const std::vector<std::string> extents = absl::StrSplit(dims, ',');
  auto module = ParseModule(
      absl::StrReplaceAll(text, {{"[D]", absl::StrCat("[", dims, "]")},
                                 {"[R]", absl::StrCat("[", extents[0], "]")},
                                 {"[C]", absl::StrCat("[", extents[1], "]")}}),
      FindOp);
  EXPECT_OK(module) << text;
  return *std::move(module);
}

class BoxedLoopTest : public ::testing::Test {
 protected:
  Environment environment() {
    return {.pool = &pool_, .allocator = allocator_.get()};
  }

  PlannedProgram ProgramOf(const Module& module) {
    auto program = PlannedProgram::Make(module, runtime::Numerics::kStrict);
    EXPECT_OK(program);
    return *std::move(program);
  }

  void ExpectSame(const Module& module, uint64_t seed) {
    Random random(seed);
    const auto arguments = RandomArguments(module.signature(), random);
    const auto want =
        CpuEvaluator({.numerics = runtime::Numerics::kStrict})
            .Evaluate(module,
                      static_cast<int>(module.computations().size()) - 1,
                      arguments, CancelToken());
    ASSERT_OK(want);
    const auto got = ProgramOf(module).Run(arguments, environment());
    ASSERT_OK(got);
    for (size_t k = 0; k < want->size(); ++k) {
      EXPECT_THAT((*got)[k], LiteralBitEquals((*want)[k])) << "result " << k;
    }
  }

  ThreadPool pool_{2};
  const std::shared_ptr<HostAllocator> allocator_ = HostAllocator::Make(0);
};

TEST_F(BoxedLoopTest, GivesTheBitsOfItsTurns) {
  // More turns than a box takes at once; rows longer than a box, and short.
  for (const char* dims : {"300,500", "2,90001", "70001,2"}) {
    SCOPED_TRACE(dims);
    const Module module = LoopModule(kTurn, dims, 1100);
    EXPECT_THAT(ProgramOf(module).Explain(),
                HasSubstr("iterates 1100 times by "));
    EXPECT_THAT(ProgramOf(module).Explain(), HasSubstr(" boxes, each"));
    ExpectSame(module, 7);
  }
  EXPECT_EQ(allocator_->live_bytes(), 0);
}

TEST_F(BoxedLoopTest, TurnsAsOftenAsItSays) {
  for (const int trips : {0, 1, 2, 16, 17, 33}) {
    SCOPED_TRACE(trips);
    ExpectSame(LoopModule(kTurn, "300,500", trips), trips);
  }
}

TEST_F(BoxedLoopTest, WhatAnElementIsMadeOfStaysInItsBox) {
  for (const char* turn : {kTellsAnElement, kReadsANeighbour, kChangesPlaces}) {
    const Module module = LoopModule(turn, "300,500", 21);
    EXPECT_THAT(ProgramOf(module).Explain(), Not(HasSubstr(" boxes, each")))
        << turn;
    ExpectSame(module, 3);
  }
}

TEST_F(BoxedLoopTest, WhatCachesHoldTurnsAsAWhole) {
  EXPECT_THAT(ProgramOf(LoopModule(kTurn, "30,50", 100)).Explain(),
              Not(HasSubstr(" boxes, each")));
}

TEST_F(BoxedLoopTest, ACancelEndsIt) {
  const Module module = LoopModule(kTurn, "300,500", 1000000000);
  Random random(1);
  Environment cancelled = environment();
  cancelled.cancel = CancelToken(absl::Now() + absl::Milliseconds(50));
  EXPECT_THAT(ProgramOf(module).Run(RandomArguments(module.signature(), random),
                                    cancelled),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_EQ(allocator_->live_bytes(), 0);
}

TEST_F(BoxedLoopTest, BoxesAreAllTurnsOfTheLoopsOnce) {
  TileProgram program;
  program.outer = {{.loop = 0, .extent = 3},
                   {.loop = 1, .extent = 1000, .chunk = 128}};
  LoopWork work;
  work.program = std::make_shared<const TileProgram>(std::move(program));
  work.box_iterations = 300;
  const LoopBoxes boxes(work);
  EXPECT_EQ(boxes.count(), 3 * 4);
  std::set<std::pair<int64_t, int64_t>> seen;
  for (int64_t b = 0; b < boxes.count(); ++b) {
    const auto box = boxes.At(b);
    ASSERT_EQ(box.size(), 2u);
    EXPECT_EQ(box[0].size, 1);
    EXPECT_EQ(box[1].begin % 128, 0);
    for (int64_t x = 0; x < box[1].size; ++x) {
      EXPECT_TRUE(seen.insert({box[0].begin, box[1].begin + x}).second);
    }
  }
  EXPECT_EQ(seen.size(), 3000u);
  EXPECT_EQ(seen.rbegin()->second, 999);
}

}  // namespace
}  // namespace hawser::cpu
