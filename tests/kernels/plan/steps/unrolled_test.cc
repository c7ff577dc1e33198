// Which loops are written out, and that their values stay.
#include "kernels/plan/loops/unrolled.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/trip_count.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "kernels/plan/target/target.h"
#include "tests/kernels/plan/steps/host_run.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// x, y = y, x * y TURNS times; `bound` is the invariant that ends it.
constexpr char kPowersText[] = R"(module "loop"
computation @0 "more" (%0: s32[], %1: f32[3], %2: f32[3], %3: s32[]) {
  %4: bool[] = compare(%0, %3) direction="LT"
  return %4
}
computation @1 "next" (%0: s32[], %1: f32[3], %2: f32[3], %3: s32[]) {
  %4: s32[] = constant() value=s32[] {1}
  %5: s32[] = add(%0, %4)
  %6: f32[3] = multiply(%1, %2)
  return %5, %2, %6
}
computation @2 "main" (%0: f32[3], %1: f32[3], %2: s32[]) {
  %3: s32[] = constant() value=s32[] {0}
  %4: s32[] = constant() value=s32[] {TURNS}
  %5: s32[], %6: f32[3], %7: f32[3] = while(%3, %0, %1, BOUND) num_invariant=1 @0 @1
  return %5, %6, %7
}
)";

Module Loop(int turns, const char* bound = "%4") {
  return Parse(absl::StrReplaceAll(
      kPowersText, {{"TURNS", absl::StrCat(turns)}, {"BOUND", bound}}));
}

Target Unrolling(int64_t instructions) {
  Target target = GpuTarget();
  target.unrolled_instructions = instructions;
  return target;
}

int EntryOf(const Module& module) {
  return static_cast<int>(module.computations().size()) - 1;
}

// The values of both, which must be the same; of the unrolled text.
std::string UnrolledText(const Module& module, const Target& target) {
  const auto unrolled = Unrolled(module, target);
  EXPECT_OK(unrolled);
  if (!unrolled.ok() || !*unrolled) return "as it was";
  EXPECT_OK(Verify(**unrolled));
  const std::vector<Literal> arguments = {Literal::Vector({1.5f, -2.0f, 3.0f}),
                                          Literal::Vector({2.0f, 0.5f, -1.0f}),
                                          Literal::Scalar(int32_t{2})};
  const auto got = EvaluateStrictly(**unrolled, EntryOf(**unrolled), arguments);
  const auto want = EvaluateStrictly(module, EntryOf(module), arguments);
  EXPECT_EQ(got.size(), want.size());
  for (size_t r = 0; r < want.size(); ++r) {
    EXPECT_TRUE(got[r].BitEquals(want[r])) << "result " << r;
  }
  return Print(**unrolled);
}

TEST(Unrolled, AShortLoopIsWrittenOut) {
  for (const int turns : {0, 1, 2, 5}) {
    const std::string text = UnrolledText(Loop(turns), Unrolling(320));
    EXPECT_THAT(text, Not(HasSubstr("while"))) << turns;
    EXPECT_THAT(text, Not(HasSubstr("call"))) << turns;
  }
}

// How often a loop of three instructions a turn turns when it is written out
// with room for `instructions`, and how many products stand in front of it.
std::pair<int64_t, int64_t> TurnsLeft(int turns, int64_t instructions) {
  const Module module = Loop(turns);
  UnrolledText(module, Unrolling(instructions));
  const auto unrolled = Unrolled(module, Unrolling(instructions));
  EXPECT_OK(unrolled);
  const Module& left = **unrolled;
  const int last = EntryOf(left);
  int64_t products = 0, trips = 0;
  const auto instructions_left = left.computation(last).instructions();
  for (size_t k = 0; k < instructions_left.size(); ++k) {
    products += instructions_left[k].op == &kMultiply ? 1 : 0;
    if (instructions_left[k].op != &kWhile) continue;
    trips = TripCount(left, last, static_cast<int>(k)).value_or(-1);
  }
  return {trips, products};
}

TEST(Unrolled, ALongOneTurnsLessOften) {
  using Left = std::pair<int64_t, int64_t>;
  EXPECT_EQ(TurnsLeft(4, 12), Left(0, 4));    // all
  EXPECT_EQ(TurnsLeft(4, 11), Left(2, 0));    // two at once
  EXPECT_EQ(TurnsLeft(7, 11), Left(2, 1));    // three at once, one before
  EXPECT_EQ(TurnsLeft(100, 99), Left(4, 0));  // 25 of at most 33 at once
  EXPECT_EQ(UnrolledText(Loop(4), Unrolling(5)), "as it was");
}

TEST(Unrolled, ALongLoopThatMovesElementsStays) {
  const Module module = Parse(absl::StrReplaceAll(
      kPowersText, {{"TURNS", "9"},
                    {"BOUND", "%4"},
                    {"%6: f32[3] = multiply(%1, %2)",
                     "%6: f32[65] = reverse(%2) dimensions=[0]"},
                    {"f32[3]", "f32[65]"}}));
  const auto unrolled = Unrolled(module, Unrolling(12));
  ASSERT_OK(unrolled);
  EXPECT_FALSE(unrolled->has_value());
}

TEST(Unrolled, OneThatOnlyARunCountsStays) {
  EXPECT_EQ(UnrolledText(Loop(4, "%2"), Unrolling(320)), "as it was");
}

TEST(Unrolled, ATargetMayWantNone) {
  EXPECT_EQ(UnrolledText(Loop(1), Unrolling(0)), "as it was");
  Target target = Unrolling(320);
  target.unrolled_elements = 3;
  EXPECT_NE(UnrolledText(Loop(1), target), "as it was");
  target.unrolled_elements = 2;
  EXPECT_EQ(UnrolledText(Loop(1), target), "as it was");
}

TEST(Unrolled, ALoopOfMoreThanElementsStays) {
  const auto with = [](const char* op) {
    return Parse(absl::StrReplaceAll(kPowersText,
                                     {{"TURNS", "2"},
                                      {"BOUND", "%4"},
                                      {"%6: f32[3] = multiply(%1, %2)", op}}));
  };
  EXPECT_NE(UnrolledText(with("%6: f32[3] = reverse(%2) dimensions=[0]"),
                         Unrolling(320)),
            "as it was");
  EXPECT_EQ(UnrolledText(with("%6: f32[3] = dynamic_update_slice(%1, %2, %0)"),
                         Unrolling(320)),
            "as it was");
}

}  // namespace
}  // namespace hawser::plan
