// Loops and branches through a GpuClient, against the CPU.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/kernels/gpu/rig.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

// As long as i < 7, from `start`: (i, x, y) -> (i + 1, y, x * i); an invariant
// k is added. States change places, so none may be written early.
constexpr char kSwapText[] = R"(module "swap"
computation @0 "more" (%0: s32[], %1: f32[3], %2: f32[3], %3: f32[3]) {
  %4: s32[] = constant() value=s32[] {7}
  %5: bool[] = compare(%0, %4) direction="LT"
  return %5
}
computation @1 "next" (%0: s32[], %1: f32[3], %2: f32[3], %3: f32[3]) {
  %4: s32[] = constant() value=s32[] {1}
  %5: s32[] = add(%0, %4)
  %6: f32[] = convert(%0) dtype=f32
  %7: f32[3] = broadcast_in_dim(%6) dims=[3] broadcast_dimensions=[]
  %8: f32[3] = multiply(%1, %7)
  %9: f32[3] = add(%8, %3)
  return %5, %2, %9
}
computation @2 "main" (%0: f32[3], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {START}
  %4: s32[], %5: f32[3], %6: f32[3] = while(%3, %0, %1, %2) num_invariant=1 @0 @1
  return %4, %5, %6
}
)";

// The same, the start an argument: only a run can say how often it turns.
constexpr char kDynamicText[] = R"(module "dynamic"
computation @0 "more" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {5}
  %4: bool[] = compare(%0, %3) direction="LT"
  return %4
}
computation @1 "next" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {1}
  %4: s32[] = add(%0, %3)
  %5: f32[3] = add(%1, %2)
  return %4, %2, %5
}
computation @2 "main" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[], %4: f32[3], %5: f32[3] = while(%0, %1, %2) @0 @1
  return %3, %4, %5
}
)";

// A known loop in a dynamic one in a branch; the branch's number decides.
constexpr char kNestedText[] = R"(module "nested"
computation @0 "inner_more" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {3}
  %3: bool[] = compare(%0, %2) direction="NE"
  return %3
}
computation @1 "inner_next" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {1}
  %3: s32[] = add(%0, %2)
  %4: s32[] = add(%1, %1)
  return %3, %4
}
computation @2 "more" (%0: s32[], %1: s32[]) {
  %2: bool[] = compare(%0, %1) direction="GT"
  return %2
}
computation @3 "next" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {0}
  %3: s32[], %4: s32[] = while(%2, %1) @0 @1
  %5: s32[] = constant() value=s32[] {2}
  %6: s32[] = add(%4, %5)
  return %0, %6
}
computation @4 "loop" (%0: s32[], %1: s32[]) {
  %2: s32[], %3: s32[] = while(%0, %1) @2 @3
  return %3, %2
}
computation @5 "swap" (%0: s32[], %1: s32[]) {
  return %1, %0
}
computation @6 "same" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {9}
  %3: s32[] = add(%0, %1)
  return %3, %2
}
computation @7 "main" (%0: s32[], %1: s32[], %2: s32[]) {
  %3: s32[], %4: s32[] = case(%0, %1, %2) @4 @5 @6
  %5: s32[] = add(%3, %4)
  return %3, %4, %5
}
)";

void ExpectReference(Rig& rig, const std::string& text, const Values& given,
                     bool blocks) {
  const Module module = Parse(text);
  ASSERT_OK_AND_ASSIGN(const ExecutablePtr loop, rig.Compile(module));
  EXPECT_EQ(loop->blocks(), blocks) << loop->Explain();
  ASSERT_OK_AND_ASSIGN(const Values want, Reference(module, given));
  const std::vector<runtime::Argument> arguments(given.begin(), given.end());
  for (int run = 0; run < 4; ++run) {
    ASSERT_OK_AND_ASSIGN(const Values got, RunOn(loop, arguments));
    for (size_t r = 0; r < want.size(); ++r) {
      EXPECT_THAT(got[r], LiteralEquals(want[r])) << "run " << run;
    }
  }
}

std::string Replaced(const char* text, absl::string_view from,
                     absl::string_view to) {
  return absl::StrReplaceAll(text, {{from, to}});
}

TEST(Loops, OfKnownLengthAreQueuedAtOnce) {
  Rig rig;
  const Values given = {F32({1, 2, 3}), F32({4, 5, 6}), F32({1, 1, 1})};
  for (const int start : {0, 4, 6, 7, 30}) {
    ExpectReference(rig, Replaced(kSwapText, "START", absl::StrCat(start)),
                    given, false);
  }
}

TEST(Loops, ThatDependOnDataAskTheDevice) {
  Rig rig;
  for (const int start : {0, 4, 5, 100}) {
    ExpectReference(
        rig, kDynamicText,
        {Literal::Scalar<int32_t>(start), F32({1, 2, 3}), F32({4, 5, 6})},
        true);
  }
}

TEST(Loops, MayBeInsideOneAnotherAndInBranches) {
  Rig rig;
  const auto scalar = [](int32_t x) { return Literal::Scalar<int32_t>(x); };
  for (const int32_t which : {0, 1, 2, 17, -1}) {
    for (const int32_t bound : {0, 1, 5000}) {
      ExpectReference(rig, kNestedText,
                      {scalar(which), scalar(bound), scalar(1)}, true);
    }
  }
}

TEST(Loops, OfVeryManyTurnsStopWhenTheyAreCancelled) {
  Rig rig;
  const auto loop = rig.Compile(absl::StrReplaceAll(
      kSwapText, {{"START", "0"}, {"{7}", "{2000000000}"}}));
  ASSERT_OK(loop);
  EXPECT_TRUE((*loop)->blocks());
  const CancelToken token = CancelToken::WithFlag();
  const Literal x = F32({1, 1, 1});
  const auto results =
      *(*loop)->Execute({{x, x, x}}, {.call = {.cancel = token}});
  token.Cancel();
  EXPECT_THAT(Fetch(results), StatusIs(absl::StatusCode::kCancelled, ""));
}

}  // namespace
}  // namespace hawser::gpu
