// Loops and choices for a batch, and reductions from values that differ.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/autodiff/gradient_transform.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/trip_count.h"
#include "core/ops/movement/scatter.h"
#include "core/vectorize/vectorize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/core/vectorize/entries.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

Literal S32(std::initializer_list<int32_t> values) {
  return Literal::Vector<int32_t>(values);
}

// How often n may be halved until it is 0, and what is left of a third.
constexpr char kHalvings[] = R"(module "halvings"
computation @0 "not zero" (%0: s32[], %1: s32[], %2: s32[]) {
  %3: s32[] = constant() value=s32[] {0}
  %4: bool[] = compare(%0, %3) direction="NE"
  return %4
}
computation @1 "halve" (%0: s32[], %1: s32[], %2: s32[]) {
  %3: s32[] = divide(%0, %2)
  %4: s32[] = constant() value=s32[] {1}
  %5: s32[] = add(%1, %4)
  return %3, %5
}
computation @2 "main" (%0: s32[], %1: s32[]) {
  %2: s32[] = constant() value=s32[] {0}
  %3: s32[], %4: s32[] = while(%0, %2, %1) num_invariant=1 @0 @1
  return %3, %4
}
)";

TEST(VectorizedWhile, EntriesEndAtTheirOwnTurn) {
  const Module module = ParsedModule(kHalvings);
  ExpectEntries(module, {true, false}, 5,
                {S32({0, 1, 1000, 7, 2}), Literal::Scalar<int32_t>(2)},
                "own n");
  ExpectEntries(module, {false, true}, 3,
                {Literal::Scalar<int32_t>(1000), S32({2, 3, 10})}, "own base");
  ExpectEntries(module, {true, true}, 3, {S32({5, 0, 81}), S32({2, 2, 3})},
                "both");
}

TEST(VectorizedWhile, OfAnEmptyBatchDoesNotTurn) {
  const auto batch =
      Vectorize(ParsedModule(kHalvings), {.size = 0, .batched = {true, true}});
  ASSERT_OK(batch);
  const Literal none = Literal::Zeros(Shape::Of(DType::kS32, {0}));
  const auto got = RunOnReference(*batch, {none, none});
  ASSERT_OK(got);
  EXPECT_EQ((*got)[1].shape(), none.shape());
}

// Five turns; the second state takes the first argument in.
constexpr char kCounted[] = R"(module "counted"
computation @0 "below 5" (%0: s32[], %1: f32[], %2: f32[], %3: f32[]) {
  %4: s32[] = constant() value=s32[] {5}
  %5: bool[] = compare(%0, %4) direction="LT"
  return %5
}
computation @1 "turn" (%0: s32[], %1: f32[], %2: f32[], %3: f32[]) {
  %4: s32[] = constant() value=s32[] {1}
  %5: s32[] = add(%0, %4)
  %6: f32[] = multiply(%1, %3)
  %7: f32[] = add(%2, %2)
  return %5, %6, %7
}
computation @2 "main" (%0: f32[], %1: f32[]) {
  %2: s32[] = constant() value=s32[] {0}
  %3: s32[], %4: f32[], %5: f32[] = while(%2, %1, %1, %0) num_invariant=1 @0 @1
  return %4, %5
}
)";

// What the batch does not reach stays one; the body makes state 1 batched.
TEST(VectorizedWhile, OfKnownTurnsKeepsThemAndWhatItDoesNotTouch) {
  const Module module = ParsedModule(kCounted);
  const auto batch = Vectorize(module, {.size = 3, .batched = {true, false}});
  ASSERT_OK(batch);
  const Computation& entry = batch->entry();
  const auto loop =
      std::find_if(entry.instructions().begin(), entry.instructions().end(),
                   [](const Instruction& i) { return i.op == &kWhile; });
  ASSERT_NE(loop, entry.instructions().end());
  const int last = static_cast<int>(batch->computations().size()) - 1;
  const int at = static_cast<int>(loop - entry.instructions().begin());
  EXPECT_EQ(TripCount(*batch, last, at), 5);
  EXPECT_EQ(entry.shape(loop->first_result).rank(), 0);
  EXPECT_EQ(entry.shape(loop->first_result + 1).rank(), 1);
  EXPECT_EQ(entry.shape(loop->first_result + 2).rank(), 0);
  ExpectEntries(module, {true, false}, 3,
                {Literal::Vector<float>({1, 2, -0.5f}), Literal::Scalar(3.0f)},
                "counted");
}

TEST(VectorizedWhile, OfAGradientIsTheGradientsOfEach) {
  GradientOptions options;
  options.parameters = {0, 1};
  const auto gradient = ValueAndGradient(ParsedModule(kCounted), options);
  ASSERT_OK(gradient);
  ExpectEntries(*gradient, {true, false}, 3,
                {Literal::Vector<float>({1, 2, -0.5f}), Literal::Scalar(3.0f)},
                "by the factor");
  ExpectEntries(
      *gradient, {true, true}, 2,
      {Literal::Vector<float>({1, 2}), Literal::Vector<float>({3, 4})},
      "by both");
}

// Results: one that a branch takes from its argument, one that none does.
constexpr char kChoice[] = R"(module "choice"
computation @0 "first" (%0: f32[2], %1: f32[2]) {
  %2: f32[2] = add(%0, %0)
  return %2, %1
}
computation @1 "second" (%0: f32[2], %1: f32[2]) {
  %2: f32[2] = divide(%1, %0)
  return %2, %1
}
computation @2 "third" (%0: f32[2], %1: f32[2]) {
  %2: f32[2] = negate(%1)
  return %1, %2
}
computation @3 "main" (%0: s32[], %1: f32[2], %2: f32[2]) {
  %3: f32[2], %4: f32[2] = case(%0, %1, %2) @0 @1 @2
  return %3, %4
}
)";

TEST(VectorizedCase, EntriesTakeTheirOwnBranch) {
  const Module module = ParsedModule(kChoice);
  const Literal x = Literal::Vector<float>({0, 4});
  const Literal y = Literal::Vector<float>({1, -2});
  const Literal xs = Literal::Of<float>({0, 1, 2, 3, 4, 5}, {3, 2});
  ExpectEntries(module, {true, false, false}, 5, {S32({0, 1, 2, 3, -1}), x, y},
                "own index");
  ExpectEntries(module, {true, true, false}, 3, {S32({1, 0, 9}), xs, y},
                "own index and x");
  for (const int32_t index : {0, 1, 2, 7}) {
    ExpectEntries(module, {false, true, false}, 3,
                  {Literal::Scalar(index), xs, y}, "one index");
  }
}

TEST(VectorizedCase, OfOneIndexStaysAChoice) {
  const auto batch = Vectorize(ParsedModule(kChoice),
                               {.size = 3, .batched = {false, true, false}});
  ASSERT_OK(batch);
  const auto instructions = batch->entry().instructions();
  const auto choice =
      std::find_if(instructions.begin(), instructions.end(),
                   [](const Instruction& i) { return i.op == &kCase; });
  ASSERT_NE(choice, instructions.end());
  EXPECT_EQ(batch->entry().shape(choice->first_result).rank(), 2);
  EXPECT_EQ(batch->entry().shape(choice->first_result + 1).rank(), 1)
      << "no branch makes it of x";
}

// x * y, whose pull-back gives twice what it should, so that it is seen to be
// used.
constexpr char kOwnPullBack[] = R"(module "own pull-back"
computation @0 "product" (%0: f32[], %1: f32[]) {
  %2: f32[] = multiply(%0, %1)
  return %2
}
computation @1 "twice" (%0: f32[], %1: f32[], %2: f32[]) {
  %3: f32[] = add(%0, %0)
  %4: f32[] = multiply(%3, %2)
  %5: f32[] = multiply(%3, %1)
  return %4, %5
}
computation @2 "main" (%0: f32[], %1: f32[]) {
  %2: f32[] = call(%0, %1) @0 @1
  return %2
}
)";

TEST(VectorizedCall, GivesItsEntriesAndTheirGradients) {
  const Module module = ParsedModule(kOwnPullBack);
  const Literal x = Literal::Vector<float>({1, 2, 3});
  const Literal y = Literal::Scalar(5.0f);
  ExpectEntries(module, {true, false}, 3, {x, y}, "values");
  GradientOptions options;
  options.parameters = {0, 1};
  const auto gradient = ValueAndGradient(module, options);
  ASSERT_OK(gradient);
  ExpectEntries(*gradient, {true, false}, 3, {x, y}, "gradients");
}

TEST(VectorizedCall, WhatEntriesShareHasTheSumOfTheirCotangents) {
  const auto batch = Vectorize(ParsedModule(kOwnPullBack),
                               {.size = 3, .batched = {true, false}});
  ASSERT_OK(batch);
  GradientOptions options;
  options.parameters = {0, 1};
  const auto gradient = ValueAndGradient(*batch, options);
  ASSERT_OK(gradient);
  const auto got = RunOnReference(
      *gradient, {Literal::Vector<float>({1, 2, 3}), Literal::Scalar(5.0f)});
  ASSERT_OK(got);
  EXPECT_THAT((*got)[1], LiteralEquals(Literal::Vector<float>({10, 10, 10})));
  EXPECT_THAT((*got)[2], LiteralEquals(Literal::Scalar(12.0f)));
}

// The largest and where it is, from a start of each entry's own.
constexpr char kLargest[] = R"(module "largest"
computation @0 "larger" (%0: f32[], %1: s32[], %2: f32[], %3: s32[]) {
  %4: bool[] = compare(%2, %0) direction="GT"
  %5: f32[] = select(%4, %2, %0)
  %6: s32[] = select(%4, %3, %1)
  return %5, %6
}
computation @1 "main" (%0: f32[2,3,2], %1: f32[], %2: s32[]) {
  %3: s32[2,3,2] = iota() dims=[2, 3, 2] dtype=s32 iota_dimension=1
  %4: f32[3], %5: s32[3] = reduce(%0, %3, %1, %2) dimensions=[2, 0] @0
  return %4, %5
}
)";

TEST(VectorizedReduce, FromInitialValuesThatDiffer) {
  const Module module = ParsedModule(kLargest);
  Random random(7);
  const Shape one = Shape::Of(DType::kF32, {2, 3, 2});
  const Literal x = RandomLiteral(one, random, false);
  const Literal xs =
      RandomLiteral(Shape::Of(DType::kF32, {3, 2, 3, 2}), random, false);
  const Literal starts = Literal::Vector<float>({-1000, 1000, 0});
  ExpectEntries(module, {false, true, true}, 3, {x, starts, S32({-1, -2, -3})},
                "starts alone");
  ExpectEntries(module, {true, true, false}, 3,
                {xs, starts, Literal::Scalar<int32_t>(-1)}, "with inputs");
}

}  // namespace
}  // namespace hawser
