// Which loops are written out, and that their values stay.
#include "kernels/plan/loops/unrolled.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
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

// The values of both, which must be the same; of the unrolled text.
std::string UnrolledText(const Module& module, const Target& target) {
  const auto unrolled = Unrolled(module, target);
  EXPECT_OK(unrolled);
  if (!unrolled.ok() || !*unrolled) return "as it was";
  EXPECT_OK(Verify(**unrolled));
  const std::vector<Literal> arguments = {Literal::Vector({1.5f, -2.0f, 3.0f}),
                                          Literal::Vector({2.0f, 0.5f, -1.0f}),
                                          Literal::Scalar(int32_t{2})};
  const auto got = EvaluateStrictly(**unrolled, 2, arguments);
  const auto want = EvaluateStrictly(module, 2, arguments);
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

TEST(Unrolled, ALongOneStays) {
  // Three instructions a turn.
  EXPECT_NE(UnrolledText(Loop(4), Unrolling(12)), "as it was");
  EXPECT_EQ(UnrolledText(Loop(4), Unrolling(11)), "as it was");
  EXPECT_EQ(UnrolledText(Loop(1 << 30), Unrolling(320)), "as it was");
}

TEST(Unrolled, OneThatOnlyARunCountsStays) {
  EXPECT_EQ(UnrolledText(Loop(4, "%2"), Unrolling(320)), "as it was");
}

TEST(Unrolled, ATargetMayWantNone) {
  EXPECT_EQ(UnrolledText(Loop(1), Unrolling(0)), "as it was");
  EXPECT_EQ(CpuTarget().unrolled_instructions, 0);
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
