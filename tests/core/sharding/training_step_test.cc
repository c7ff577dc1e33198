// A data-parallel training step: written for one machine, differentiated, cut
// by rows of its batch. Each task makes its partial gradients; of these, each
// share of the weights is updated by one task, with that share of the
// optimizer's state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/autodiff/gradient_transform.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"
#include "tests/core/sharding/formulas.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr int64_t kRows = 12, kFeatures = 64, kHidden = 96, kClasses = 4;
// What another order of f32 sums may matter.
constexpr Tolerance kSums = {.atol = 1e-3, .rtol = 1e-5};

Expression Turned(const Expression& x) { return Transposed(x, {1, 0}); }

// Of x, y, both weights: half the mean square error of two layers.
Expression LossOf(const std::vector<Expression>& p) {
  const Expression hidden =
      Apply(kMaximum, {Product(p[0], p[2]), Like(Product(p[0], p[2]), 0)});
  const Expression error = Product(hidden, p[3]) - p[1];
  return (0.5 / kRows) * SummedAll(error * error);
}

std::vector<Shape> BatchAndWeights() {
  return {F32({kRows, kFeatures}), F32({kRows, kClasses}),
          F32({kFeatures, kHidden}), F32({kHidden, kClasses})};
}

// (x, y, w1, w2, momentum of w1) -> (loss, w1, w2, momentum, rows of the
// prediction): one step, its derivatives by hand.
Module StepModule() {
  std::vector<Shape> shapes = BatchAndWeights();
  shapes.push_back(shapes[2]);
  return ModuleOf(shapes, [](const auto& p) {
    const Expression before = Product(p[0], p[2]);
    const Expression hidden = Apply(kMaximum, {before, Like(before, 0)});
    const Expression predicted = Product(hidden, p[3]);
    const Expression error = predicted - p[1];
    const Expression pull = (1.0 / kRows) * error;
    const Expression alive =
        Compare(before, CompareDirection::kGt, Like(before, 0));
    const Expression pull1 = Where(alive, Product(pull, Turned(p[3])));
    const Expression momentum = 0.9 * p[4] + Product(Turned(p[0]), pull1);
    return Formulas{
        (0.5 / kRows) * SummedAll(error * error), p[2] - 0.1 * momentum,
        p[3] - 0.1 * Product(Turned(hidden), pull), momentum, predicted};
  });
}

std::vector<int> ValuesOf(const std::vector<Piece>& pieces) {
  std::vector<int> values;
  for (const Piece& piece : pieces) values.push_back(piece.value);
  return values;
}

TEST(TrainingStep, EachShareOfTheWeightsIsUpdatedByOneTask) {
  const Module step = StepModule();
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       ShardBy(step, "0.0/3 1.0/3 split"));
  ExpectWhole(step, sharding, 1, kSums);
  EXPECT_TRUE(sharding.notes.empty());
  ASSERT_EQ(sharding.tasks.size(), 6u);
  const Exchange exchange = ExchangeOf(sharding);
  EXPECT_EQ(exchange.stages, 2);
  // Each partial loss and gradient is taken once.
  EXPECT_EQ(exchange.bytes,
            3 * 4 * (1 + kFeatures * kHidden + kHidden * kClasses));
  for (int64_t t = 0; t < 3; ++t) {
    const ShardTask& gradients = sharding.tasks[t];
    const Interval rows = {4 * t, 4 * t + 4};
    EXPECT_EQ(gradients.takes[0], (Piece{0, {rows, {0, kFeatures}}}));
    EXPECT_EQ(gradients.takes[1], (Piece{1, {rows, {0, kClasses}}}));
    EXPECT_EQ(gradients.gives[0], (Piece{4, {rows, {0, kClasses}}}));
    EXPECT_EQ(gradients.module, sharding.tasks[0].module);
    // The share of w1 and of its momentum, of nothing but these.
    const ShardTask& update = sharding.tasks[3 + t];
    const Piece share = {2, {{0, kFeatures}, {32 * t, 32 * t + 32}}};
    EXPECT_THAT(update.takes, ::testing::Contains(share));
    for (const Piece& piece : update.takes) {
      if (piece.value == 2 || piece.value == 4) {
        EXPECT_EQ(piece.box, share.box);
      }
      EXPECT_GE(piece.value, 2)
          << "no task of the second stage needs the batch";
    }
  }
  // What is too small to be cut goes with the first share.
  EXPECT_THAT(ValuesOf(sharding.tasks[3].gives),
              UnorderedElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ValuesOf(sharding.tasks[4].gives), ElementsAre(1, 3));
  EXPECT_EQ(sharding.tasks[4].module, sharding.tasks[5].module);
}

// One product makes all shares of a partial gradient.
TEST(TrainingStep, APartialGradientIsMadeAtOnce) {
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       ShardBy(StepModule(), "0.0/3 1.0/3 split"));
  int products = 0;
  for (const Instruction& instruction :
       sharding.tasks[0].module->entry().instructions()) {
    products += instruction.op == &kDotGeneral ? 1 : 0;
  }
  EXPECT_EQ(products, 5);
}

// Rows of a product, less their mean and over their deviation: each is made of
// partial values of all rows. The product itself is not made again for them.
TEST(TrainingStep, AProductThatLaterStagesNeedIsMadeOnce) {
  const Module norm =
      ModuleOf({F32({kRows, kHidden}), F32({kHidden, 8})}, [](const auto& p) {
        const Expression x = Product(p[0], p[1]);
        const auto mean = [&](const Expression& y) {
          return Spread((1.0 / kRows) * Summed(y, {0}), x.dims(), {0});
        };
        const Expression centred = x - mean(x);
        return Formulas{centred / (mean(centred * centred) + 1)};
      });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(norm, "0.0/3 split"));
  ASSERT_EQ(sharding.tasks.size(), 9u);
  // It, and the partial sums of both means; what is made of it is cheap.
  EXPECT_EQ(sharding.between.size(), 1u + 3u + 3u);
  for (int t = 0; t < 9; ++t) {
    int products = 0;
    for (const Instruction& instruction :
         sharding.tasks[t].module->entry().instructions()) {
      products += instruction.op == &kDotGeneral ? 1 : 0;
    }
    EXPECT_EQ(products, t < 3 ? 1 : 0) << t;
    EXPECT_EQ(sharding.tasks[t].takes[0].value < 2, t < 3);
  }
  ExpectWhole(norm, sharding, 5, kSums);
}

// Of a gradient scaled by its norm every share needs all of it.
TEST(TrainingStep, WhatNeedsAllOfASumIsMadeOnce) {
  const Module step = ModuleOf(
      {F32({kRows, kFeatures}), F32({kRows, kHidden})}, [](const auto& p) {
        const Expression gradient = Product(Turned(p[0]), p[1]);
        const Expression norm = SummedAll(gradient * gradient);
        return Formulas{gradient / Spread(norm + 1, gradient.dims(), {0, 1})};
      });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(step, "0.0/3 split"));
  ASSERT_EQ(sharding.tasks.size(), 4u);
  EXPECT_EQ(ExchangeOf(sharding).bytes, 3 * 4 * kFeatures * kHidden);
  ExpectWhole(step, sharding, 4, kSums);
}

TEST(TrainingStep, UnevenRowsAndMorePartsThanFew) {
  const Module step = StepModule();
  for (const char* cuts : {"0.0=1+0+11 split", "1.0/5 split", "0.0* split",
                           "0.0/2 0.1/2 split", "0.0/2 2.1/3 split"}) {
    ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(step, cuts));
    EXPECT_GT(sharding.tasks.size(), 3u);
    ExpectWhole(step, sharding, 2, kSums);
    if (HasFailure()) FAIL() << cuts;
  }
}

TEST(TrainingStep, GradientsByRuleAreThoseOfTheWhole) {
  const Module loss = ModuleOf(
      BatchAndWeights(), [](const auto& p) { return Formulas{LossOf(p)}; });
  ASSERT_OK_AND_ASSIGN(const Module module,
                       ValueAndGradient(loss, {.parameters = {2, 3}}));
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       ShardBy(module, "0.0/3 1.0/3 split"));
  EXPECT_EQ(ExchangeOf(sharding).stages, 2);
  EXPECT_EQ(sharding.tasks.size(), 6u);
  ExpectWhole(module, sharding, 3, kSums);
}

}  // namespace
}  // namespace hawser
