// Steps of small plans by their slots, and of many plans by their values.
#include "kernels/plan/steps/step_builder.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/ir/text/printer.h"
#include "gtest/gtest.h"
#include "kernels/plan/fusion/dot_layout.h"
#include "tests/kernels/plan/steps/host_run.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"
#include "tests/testing/sample_modules.h"

namespace hawser::plan {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// Dies where it is another kind of step.
template <typename Action>
const Action& ActionOf(const Step& step) {
  return std::get<Action>(step.action);
}

std::vector<CopyStep> CopiesOf(const Steps& steps) {
  std::vector<CopyStep> copies;
  for (const Step& step : steps) {
    if (const auto* copy = std::get_if<CopyStep>(&step.action)) {
      copies.push_back(*copy);
    }
  }
  return copies;
}

// As the module, whether the arguments are given away or not.
void ExpectValues(const Module& module, const Target& target,
                  const std::vector<Literal>& arguments) {
  const Stepped stepped = StepsOf(module, target);
  // Of products that are read in another layout the bits may differ.
  ASSERT_OK_AND_ASSIGN(const Module laid_out, LayOutProducts(module, target));
  const int entry = static_cast<int>(laid_out.computations().size()) - 1;
  const auto want = EvaluateStrictly(laid_out, entry, arguments);
  for (const bool donate : {false, true}) {
    const auto got = RunOnHost(stepped, arguments, donate);
    ASSERT_EQ(got.size(), want.size());
    for (size_t r = 0; r < want.size(); ++r) {
      ASSERT_EQ(got[r].bytes(), want[r].bytes())
          << "result " << r << (donate ? ", donated\n" : "\n")
          << Print(stepped.plan.module);
    }
  }
}

void ExpectValues(const Module& module, const std::vector<Literal>& arguments) {
  for (const Target& target : {GpuTarget(), CpuTarget()}) {
    ExpectValues(module, target, arguments);
  }
}

Literal Three(float x) { return Literal::Vector({x, x + 1, x + 2}); }

// ---- straight on ------------------------------------------------------------

constexpr char kChainText[] = R"(module "chain"
computation @0 "main" (%0: f32[4], %1: f32[4]) {
  %2: f32[4] = add(%0, %1)
  %3: f32[4] = negate(%2)
  %4: f32[4] = multiply(%3, %0)
  return %4
}
)";

TEST(StepBuilder, AFusedChainIsOneStepFromArgumentsToResult) {
  const Stepped s = StepsOf(Parse(kChainText));
  ASSERT_EQ(s.program.steps.size(), 1u);
  const RegionWork& work = s.WorkOf(s.program.steps[0]);
  EXPECT_THAT(work.operands, ElementsAre(Slot{2, 0, 16}, Slot{3, 0, 16}));
  EXPECT_THAT(work.results, ElementsAre(Slot{4, 0, 16}));
  EXPECT_EQ(s.program.first_result(), 4);
  EXPECT_EQ(s.program.num_bases(), 5);
  EXPECT_EQ(s.program.arena_bytes, 0);
  EXPECT_EQ(s.program.constants, "");
  EXPECT_EQ(s.program.explanation, "");
}

constexpr char kConstantsText[] = R"(module "constants"
computation @0 "main" (%0: f32[3]) {
  %1: f32[3] = constant() value=f32[3] {1, 2, 3}
  %2: f32[3] = constant() value=f32[3] {4, 5, 6}
  %3: f32[3] = add(%0, %1)
  %4: f32[3] = multiply(%0, %2)
  %5: f32[3] = subtract(%3, %4)
  %6: f32[3] = add(%5, %1)
  %7: f32[3] = reverse(%6) dimensions=[0]
  return %7
}
)";

TEST(StepBuilder, TemporariesAndConstantsLieAsTheTargetAligns) {
  for (const Target& target : {GpuTarget(), CpuTarget()}) {
    const Stepped s = UnfusedStepsOf(Parse(kConstantsText), target);
    ASSERT_EQ(s.works.size(), 5u);
    const int64_t next = target.alignment;
    EXPECT_EQ(s.works[0].operands[1], (Slot{Slot::kConstants, 0, 12}));
    EXPECT_EQ(s.works[1].operands[1], (Slot{Slot::kConstants, next, 12}));
    EXPECT_EQ(s.works[3].operands[1], s.works[0].operands[1]);
    EXPECT_EQ(s.program.constants.size(), next + 12u);
    EXPECT_EQ(s.works[0].results[0], (Slot{Slot::kArena, 0, 12}));
    EXPECT_EQ(s.works[1].results[0], (Slot{Slot::kArena, next, 12}));
    // Over what dies with it.
    EXPECT_EQ(s.works[2].results[0], s.works[0].results[0]);
    EXPECT_EQ(s.works[4].results[0], (Slot{3, 0, 12}));
    EXPECT_EQ(s.program.arena_bytes, 2 * next);
  }
}

constexpr char kSumText[] = R"(module "sum"
computation @0 "plus" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: f32[65536]) {
  %1: f32[] = constant() value=f32[] {0}
  %2: f32[65536] = negate(%0)
  %3: f32[] = reduce(%2, %1) dimensions=[0] @0
  return %3
}
)";

TEST(StepBuilder, AStepHasItsScratchToItself) {
  const Stepped s = UnfusedStepsOf(Parse(kSumText), GpuTarget());
  ASSERT_EQ(s.works.size(), 2u);
  const Slot scratch = s.works[1].scratch;
  EXPECT_EQ(scratch.base, Slot::kArena);
  EXPECT_GT(scratch.bytes, 0);
  EXPECT_FALSE(Overlap(scratch, s.works[0].results[0]));
  EXPECT_LE(scratch.offset + scratch.bytes, s.program.arena_bytes);
}

constexpr char kAliasText[] = R"(module "alias"
computation @0 "main" (%0: f32[3], %1: f32[4]) {
  %2: f32[3] = constant() value=f32[3] {1, 2, 3}
  %3: f32[3] = add(%0, %2)
  %4: f32[2,2] = reshape(%1) dims=[2,2]
  return %0, %2, %3, %3, %4, %2
}
)";

TEST(StepBuilder, ResultsThatAreOthersBytesAreSharedUnlessConstant) {
  const Stepped s = StepsOf(Parse(kAliasText));
  const auto& results = s.program.results;
  const std::vector<std::pair<ResultMemory::Kind, int>> want = {
      {ResultMemory::kArgument, 0}, {ResultMemory::kOwn, -1},
      {ResultMemory::kOwn, -1},     {ResultMemory::kResult, 2},
      {ResultMemory::kArgument, 1}, {ResultMemory::kOwn, -1}};
  ASSERT_EQ(results.size(), want.size());
  for (size_t r = 0; r < want.size(); ++r) {
    EXPECT_EQ(results[r].kind, want[r].first) << r;
    EXPECT_EQ(results[r].index, want[r].second) << r;
  }
  const Slot constant{Slot::kConstants, 0, 12};
  const auto copies = CopiesOf(s.program.steps);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].to, (Slot{5, 0, 12}));
  EXPECT_EQ(copies[1].to, (Slot{9, 0, 12}));
  for (const CopyStep& copy : copies) EXPECT_EQ(copy.from, constant);
}

TEST(StepBuilder, DonationsAreTheEntrys) {
  const Stepped s = StepsOf(Parse(kChainText));
  const auto& planned = s.plan.entry().buffers.donations;
  ASSERT_EQ(planned.size(), 1u);
  ASSERT_EQ(s.program.donations.size(), 1u);
  EXPECT_EQ(s.program.donations[0].argument, planned[0].argument);
  EXPECT_EQ(s.program.donations[0].result, 0);
}

// ---- loops ------------------------------------------------------------------

// (i, x, y) three times from i = 0.
constexpr char kLoopText[] = R"(module "loop"
computation @0 "more" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {3}
  %4: bool[] = compare(%0, %3) direction="LT"
  return %4
}
computation @1 "next" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {1}
  %4: s32[] = add(%0, %3)
  %5: f32[3] = add(%1, %1)
  return %4, NEXT
}
computation @2 "main" (%0: f32[3], %1: f32[3]) {
  %2: s32[] = constant() value=s32[] {0}
  %3: s32[], %4: f32[3], %5: f32[3] = while(%2, %0, %1) @0 @1
  return %3, %4, %5
}
)";
const Slot kI{4, 0, 4}, kX{5, 0, 12}, kY{6, 0, 12};

Module LoopOf(absl::string_view next) {
  return Parse(absl::StrReplaceAll(kLoopText, {{"NEXT", next}}));
}

// In the arena, aligned, and each to itself.
void ExpectApart(const StepProgram& program, const std::vector<Slot>& slots) {
  for (size_t a = 0; a < slots.size(); ++a) {
    EXPECT_EQ(slots[a].base, Slot::kArena) << a;
    EXPECT_EQ(slots[a].offset % GpuTarget().alignment, 0) << a;
    EXPECT_LE(slots[a].offset + slots[a].bytes, program.arena_bytes) << a;
    for (size_t b = 0; b < a; ++b) {
      EXPECT_FALSE(Overlap(slots[a], slots[b])) << a << " and " << b;
    }
  }
}

void ExpectCopy(const CopyStep& copy, const Slot& to, const Slot& from) {
  EXPECT_EQ(copy.to, to);
  EXPECT_EQ(copy.from, from);
}

TEST(StepBuilder, ALoopThatWritesOverItsStatesNeedsNoOtherMemory) {
  const Module module = LoopOf("%5, %2");
  const Stepped s = StepsOf(module);
  ASSERT_EQ(s.program.steps.size(), 4u);
  const auto copies = CopiesOf(s.program.steps);
  ASSERT_EQ(copies.size(), 3u);
  ExpectCopy(copies[0], kI, {Slot::kConstants, 0, 4});
  ExpectCopy(copies[1], kX, {2, 0, 12});
  ExpectCopy(copies[2], kY, {3, 0, 12});
  const auto& loop = ActionOf<LoopStep>(s.program.steps[3]);
  EXPECT_EQ(loop.trips, 3);
  EXPECT_TRUE(loop.condition.empty());
  EXPECT_FALSE(loop.body.empty());
  for (const Step& step : loop.body) {
    for (const Slot& result : s.WorkOf(step).results) {
      EXPECT_THAT(s.WorkOf(step).operands, Contains(result));
    }
  }
  EXPECT_EQ(s.program.arena_bytes, 0);
  ExpectValues(module, {Three(1), Three(4)});
}

// Of a counted loop: what no result is made of is neither copied nor computed.
TEST(StepBuilder, ACounterThatNothingReadsIsNotCounted) {
  const auto without = [](absl::string_view left) {
    return Parse(absl::StrReplaceAll(
        kLoopText, {{"NEXT", "%5, %2"}, {"return %3, %4, %5", left}}));
  };
  const auto turns_of = [](const Stepped& s) {
    return ActionOf<LoopStep>(s.program.steps.back()).body.size();
  };
  const Stepped all = StepsOf(without("return %3, %4, %5"));
  EXPECT_EQ(turns_of(all), 2u);
  const Stepped uncounted = StepsOf(without("return %4, %5"));
  EXPECT_EQ(turns_of(uncounted), 1u);
  EXPECT_EQ(CopiesOf(uncounted.program.steps).size(), 2u);
  // The other array stays as it is.
  const Stepped counted = StepsOf(without("return %3, %5"));
  EXPECT_EQ(turns_of(counted), 1u);
  EXPECT_EQ(
      counted.WorkOf(ActionOf<LoopStep>(counted.program.steps.back()).body[0])
          .results[0]
          .bytes,
      4);
  // Read behind the loop by another name.
  const char* const viewed =
      "%6: f32[1,3] = reshape(%4) dims=[1,3]\n  return %6";
  for (const char* left :
       {"return %4, %5", "return %3, %5", "return %4", viewed}) {
    ExpectValues(without(left), {Three(1), Three(4)});
  }
}

TEST(StepBuilder, StatesThatChangePlacesHaveASecondBuffer) {
  const Module module = LoopOf("%2, %5");
  const Stepped s = StepsOf(module);
  const Steps& body = ActionOf<LoopStep>(s.program.steps.back()).body;
  const auto copies = CopiesOf(body);
  ASSERT_EQ(copies.size(), 3u);
  const Slot next_x = copies[0].to, next_y = copies[2].from;
  // Behind all that reads a state.
  EXPECT_TRUE(std::holds_alternative<CopyStep>(body.end()[-3].action));
  ExpectCopy(copies[0], next_x, kY);
  ExpectCopy(copies[1], kX, next_x);
  ExpectCopy(copies[2], kY, next_y);
  ExpectApart(s.program, {next_x, next_y});
  EXPECT_EQ(s.program.arena_bytes, 2 * GpuTarget().alignment);
  ExpectValues(module, {Three(1), Three(4)});
}

TEST(StepBuilder, ALoopOfUnknownLengthHasAPredicateToItself) {
  const Module module = Parse(absl::StrReplaceAll(
      kLoopText, {{"NEXT", "%2, %5"},
                  {"main\" (%0: f32[3], %1: f32[3])",
                   "main\" (%0: f32[3], %1: f32[3], %2: s32[])"},
                  {"  %2: s32[] = constant() value=s32[] {0}\n", ""}}));
  const Stepped s = StepsOf(module);
  const auto& loop = ActionOf<LoopStep>(s.program.steps.back());
  EXPECT_FALSE(loop.trips.has_value());
  EXPECT_EQ(loop.predicate.bytes, 1);
  EXPECT_THAT(s.WorkOf(loop.condition.back()).results,
              ElementsAre(loop.predicate));
  const auto copies = CopiesOf(loop.body);
  ASSERT_EQ(copies.size(), 3u);
  ExpectApart(s.program, {loop.predicate, copies[0].to, copies[2].from});
  for (const int32_t start : {-4, 0, 2, 3, 100}) {
    ExpectValues(module, {Three(1), Three(4), Literal::Scalar<int32_t>(start)});
  }
}

TEST(StepBuilder, AConditionThatIsAStateIsCopied) {
  const Module module = Parse(R"(module "flag"
computation @0 "more" (%0: bool[], %1: s32[]) {
  return %0
}
computation @1 "next" (%0: bool[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {1}
  %3: s32[] = add(%1, %2)
  %4: s32[] = constant() value=s32[] {7}
  %5: bool[] = compare(%3, %4) direction="LT"
  return %5, %3
}
computation @2 "main" (%0: bool[], %1: s32[]) {
  %2: bool[], %3: s32[] = while(%0, %1) @0 @1
  return %2, %3
}
)");
  const Stepped s = StepsOf(module);
  const auto& loop = ActionOf<LoopStep>(s.program.steps.back());
  ASSERT_EQ(loop.condition.size(), 1u);
  ExpectCopy(ActionOf<CopyStep>(loop.condition[0]), loop.predicate, {4, 0, 1});
  for (const bool start : {false, true}) {
    ExpectValues(module, {Literal::Scalar(start), Literal::Scalar<int32_t>(4)});
  }
}

constexpr char kNestedText[] = R"(module "nested"
computation @0 "more" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {3}
  %4: bool[] = compare(%0, %3) direction="LT"
  return %4
}
computation @1 "inner" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {1}
  %4: s32[] = add(%0, %3)
  %5: f32[3] = add(%1, %1)
  return %4, %2, %5
}
computation @2 "outer" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {1}
  %4: s32[] = add(%0, %3)
  %5: s32[], %6: f32[3], %7: f32[3] = while(%0, %1, %2) @0 @1
  return %4, %6, %7
}
computation @3 "main" (%0: f32[3], %1: f32[3]) {
  %2: s32[] = constant() value=s32[] {0}
  %3: s32[], %4: f32[3], %5: f32[3] = while(%2, %0, %1) @0 @2
  %6: s32[], %7: f32[3], %8: f32[3] = while(%2, %4, %5) @0 @1
  return %6, %7, %8
}
)";

std::vector<const LoopStep*> LoopsOf(const Steps& steps) {
  std::vector<const LoopStep*> loops;
  for (const Step& step : steps) {
    const auto* loop = std::get_if<LoopStep>(&step.action);
    if (loop != nullptr) loops.push_back(loop);
  }
  return loops;
}

TEST(StepBuilder, ALoopInALoopHasMemoryOfItsOwnAndTheNextLoopHasTheSame) {
  const Module module = Parse(kNestedText);
  const Stepped s = StepsOf(module);
  const auto loops = LoopsOf(s.program.steps);
  ASSERT_EQ(loops.size(), 2u);
  const auto inner = LoopsOf(loops[0]->body);
  ASSERT_EQ(inner.size(), 1u);
  const auto turn = CopiesOf(loops[0]->body);
  ASSERT_EQ(turn.size(), 6u);  // to the inner states, and back
  const auto swap = CopiesOf(inner[0]->body);
  ASSERT_EQ(swap.size(), 3u);
  // The inner states are the outer loop's next ones.
  ExpectApart(s.program, {inner[0]->predicate, swap[0].to, swap[2].from,
                          turn[3].from, turn[4].from, turn[5].from});
  EXPECT_EQ(swap[1].to, turn[4].from);
  EXPECT_EQ(swap[2].to, turn[5].from);
  const auto next = CopiesOf(loops[1]->body);
  ASSERT_EQ(next.size(), 3u);
  EXPECT_EQ(next[0].to.offset, turn[3].from.offset);
  ExpectApart(s.program, {next[0].to, next[2].from, turn[4].to, turn[5].to});
  ExpectValues(module, {Three(1), Three(4)});
}

// ---- branches ---------------------------------------------------------------

constexpr char kCaseText[] = R"(module "choice"
computation @0 "more" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {3}
  %4: bool[] = compare(%0, %3) direction="LT"
  return %4
}
computation @1 "next" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: s32[] = constant() value=s32[] {1}
  %4: s32[] = add(%0, %3)
  %5: f32[3] = add(%1, %1)
  return %4, %2, %5
}
computation @2 "swap" (%0: f32[3], %1: f32[3]) {
  return %1, %0
}
computation @3 "loop" (%0: f32[3], %1: f32[3]) {
  %2: s32[] = constant() value=s32[] {0}
  %3: s32[], %4: f32[3], %5: f32[3] = while(%2, %0, %1) @0 @1
  return %4, %5
}
computation @4 "constant" (%0: f32[3], %1: f32[3]) {
  %2: f32[3] = constant() value=f32[3] {7, 8, 9}
  %3: f32[3] = add(%0, %1)
  return %2, %3
}
computation @5 "main" (%0: s32[], %1: f32[3], %2: f32[3]) {
  %3: f32[3], %4: f32[3] = case(%0, %1, %2) @2 @3 @3 @4
  return %3, %4
}
)";

TEST(StepBuilder, BranchesLeaveTheirResultsInOnePlace) {
  const Stepped s = StepsOf(Parse(kCaseText));
  const Slot x{3, 0, 12}, y{4, 0, 12}, first{5, 0, 12}, second{6, 0, 12};
  ASSERT_EQ(s.program.steps.size(), 1u);
  const auto& choice = ActionOf<CaseStep>(s.program.steps[0]);
  EXPECT_EQ(choice.index, (Slot{2, 0, 4}));
  ASSERT_EQ(choice.branches.size(), 4u);
  const auto swap = CopiesOf(choice.branches[0]);
  ASSERT_EQ(swap.size(), 2u);
  ExpectCopy(swap[0], first, y);
  ExpectCopy(swap[1], second, x);
  const Steps& last = choice.branches[3];
  ASSERT_EQ(last.size(), 2u);
  EXPECT_THAT(s.WorkOf(last[0]).results, ElementsAre(second));
  ExpectCopy(ActionOf<CopyStep>(last[1]), first,
             ActionOf<CopyStep>(last[1]).from);
  EXPECT_EQ(ActionOf<CopyStep>(last[1]).from.base, Slot::kConstants);
}

// One computation in two branches: two sets of steps.
TEST(StepBuilder, BranchesShareMemoryButNoWork) {
  const Module module = Parse(kCaseText);
  const Stepped s = StepsOf(module);
  const auto& branches = ActionOf<CaseStep>(s.program.steps[0]).branches;
  const LoopStep& one = *LoopsOf(branches[1]).at(0);
  const LoopStep& two = *LoopsOf(branches[2]).at(0);
  EXPECT_EQ(CopiesOf(one.body)[0].to, CopiesOf(two.body)[0].to);
  EXPECT_NE(ActionOf<WorkStep>(one.body[0]).work,
            ActionOf<WorkStep>(two.body[0]).work);
  for (const int32_t which : {0, 1, 2, 3, 17, -1}) {
    ExpectValues(module, {Literal::Scalar<int32_t>(which), Three(1), Three(4)});
  }
}

constexpr char kBesideText[] = R"(module "beside"
computation @0 "plus" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "sum" (%0: f32[65536]) {
  %1: f32[] = constant() value=f32[] {0}
  %2: f32[65536] = abs(%0)
  %3: f32[] = reduce(%2, %1) dimensions=[0] @0
  return %3
}
computation @2 "outer" (%0: f32[65536]) {
  %1: s32[] = constant() value=s32[] {0}
  %2: f32[65536] = add(%0, %0)
  %3: f32[] = case(%1, %0) @1
  %4: f32[65536] = broadcast_in_dim(%3) dims=[65536] broadcast_dimensions=[]
  %5: f32[65536] = maximum(%2, %4)
  %6: f32[] = reduce(%5, %3) dimensions=[0] @0
  return %6
}
computation @3 "main" (%0: s32[], %1: f32[65536]) {
  %2: f32[65536] = negate(%1)
  %3: f32[] = case(%0, %1) @2 @1
  %4: f32[65536] = broadcast_in_dim(%3) dims=[65536] broadcast_dimensions=[]
  %5: f32[65536] = add(%2, %4)
  %6: f32[65536] = reverse(%5) dimensions=[0]
  return %6
}
)";

// Those of the outer computations that are alive stay as they are.
TEST(StepBuilder, CalledComputationsHaveTemporariesOfTheirOwn) {
  const Module module = Parse(kBesideText);
  const Stepped s = UnfusedStepsOf(module, GpuTarget());
  const auto work = [&](int computation, int instruction) {
    const auto is = [&](const RegionWork& w) {
      return w.computation == computation && w.instruction == instruction;
    };
    return *std::find_if(s.works.begin(), s.works.end(), is);
  };
  ExpectApart(s.program, {work(3, 2).results[0], work(2, 2).results[0],
                          work(1, 2).results[0], work(1, 3).scratch});
  ExpectApart(s.program, {work(3, 2).results[0], work(2, 6).scratch,
                          work(2, 5).results[0]});
  EXPECT_GT(work(1, 3).scratch.bytes, 0);
  for (const int32_t which : {0, 1}) {
    const std::vector<Literal> arguments = {
        Literal::Scalar<int32_t>(which),
        Literal::Of<float>(std::vector<float>(65536, 0.5f), {65536})};
    EXPECT_EQ(RunOnHost(s, arguments, false)[0].bytes(),
              EvaluateStrictly(module, 3, arguments)[0].bytes());
  }
}

// ---- every plan -------------------------------------------------------------

TEST(StepBuilder, AnEmittersErrorNamesTheInstruction) {
  class Failing : public RegionEmitter {
    absl::Status Add(const Site& site, StepBuilder& steps, Steps* to) override {
      return Unimplemented("not this one");
    }
  };
  ASSERT_OK_AND_ASSIGN(const Plan plan,
                       PlanFused(Parse(kNestedText), GpuTarget()));
  Failing emitter;
  EXPECT_THAT(MakeSteps(plan, emitter),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "(while): %4 (add): not this one"));
}

TEST(StepBuilder, SampleModulesHaveTheirValues) {
  for (const NamedModule& sample : SampleModules()) {
    SCOPED_TRACE(sample.name);
    Random random(1);
    ExpectValues(sample.module, RandomArguments(sample.module.signature(),
                                                random, /*extremes=*/false));
  }
}

TEST(StepBuilder, RandomModulesHaveTheirValues) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const Module module = RandomModule(seed, {.instructions = 20});
    Random random(seed);
    ExpectValues(module, RandomArguments(module.signature(), random));
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace hawser::plan
