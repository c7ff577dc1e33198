#include "core/sharding/choice/choose.h"

#include <iostream>
#include <vector>

#include "core/ir/text/printer.h"
#include "core/sharding/choice/work.h"
#include "gtest/gtest.h"
#include "tests/core/sharding/formulas.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using At = ArgumentLayout::At;

const std::vector<PlaceFigures>& ThreePlaces() {
  static const auto& places = *new std::vector<PlaceFigures>(
      3, {.steps = 1e9, .bytes = 1e10, .link = 1e9, .round_trip = 1e-4});
  return places;
}

Module MatrixProduct(int64_t n, int64_t k, int64_t m) {
  return ModuleOf({F32({n, k}), F32({k, m})}, [](const auto& p) {
    return Formulas{Product(p[0], p[1])};
  });
}

TEST(WorkTest, AProductIsAllOfItsAxes) {
  const Work work = WorkOf(MatrixProduct(3, 5, 7));
  EXPECT_EQ(work.steps, 3 * 5 * 7);
  EXPECT_EQ(work.bytes, 4 * (15 + 35 + 21));
}

TEST(ChooseTest, WhatIsSmallStaysOnOnePlaceAndSaysSo) {
  const auto choice =
      ChooseSpec(MatrixProduct(8, 8, 8), ThreePlaces(), {{}, {}});
  ASSERT_OK(choice);
  EXPECT_EQ(choice->sharding.tasks.size(), 1);
  EXPECT_NE(choice->why.find("one task"), std::string::npos) << choice->why;
  EXPECT_EQ(choice->seconds, choice->alone);
}

TEST(ChooseTest, WorkIsCutWhereItMovesLeast) {
  // 2 s of steps; the right matrix has few columns.
  const Module module = MatrixProduct(20000, 1000, 100);
  const auto choice = ChooseSpec(module, ThreePlaces(), {{}, {}});
  ASSERT_OK(choice);
  ASSERT_EQ(choice->spec.parameters.size(), 1);
  EXPECT_EQ(choice->spec.parameters[0].value, 0);
  EXPECT_EQ(choice->spec.parameters[0].axis, 0);
  EXPECT_EQ(choice->sharding.tasks.size(), 12);  // four a place
  EXPECT_LT(choice->seconds, 0.4 * choice->alone);
}

TEST(ChooseTest, PiecesAreUsedAsTheyLie) {
  // Rows that are in two places are not brought together for 12 parts.
  const Module module = MatrixProduct(20000, 1000, 4);
  ArgumentLayout pieces{.at = At::kPieces,
                        .pieces = {{{0, 15000}, {0, 1000}},
                                   {{15000, 20000}, {0, 1000}}}};
  const auto choice =
      ChooseSpec(module, ThreePlaces(), {pieces, {.at = At::kEverywhere}});
  ASSERT_OK(choice);
  ASSERT_EQ(choice->sharding.tasks.size(), 2);
  EXPECT_EQ(choice->sharding.tasks[0].takes[0].box, pieces.pieces[0]);
}

TEST(ChooseTest, ASumOverPlacesIsSplit) {
  // What is contracted lies in three places.
  const Module module = MatrixProduct(100, 30000, 100);
  ArgumentLayout left{.at = At::kPieces}, right{.at = At::kPieces};
  for (int64_t i = 0; i < 3; ++i) {
    const Interval part{10000 * i, 10000 * (i + 1)};
    left.pieces.push_back({{0, 100}, part});
    right.pieces.push_back({part, {0, 100}});
  }
  const auto choice = ChooseSpec(module, ThreePlaces(), {left, right});
  ASSERT_OK(choice);
  EXPECT_GE(choice->sharding.tasks.size(), 4);
  EXPECT_EQ(choice->sharding.between.size(), 3);
}

// Products of square matrices, of two arguments and of each other, drawn.
Module DrawnProducts(int64_t n, int products, Random& random) {
  return ModuleOf({F32({n, n}), F32({n, n})}, [&](const auto& p) {
    Formulas values = p;
    for (int i = 0; i < products; ++i) {
      const Expression& left = random.Pick(values);
      values.push_back(random.OneIn(2) ? Product(left, random.Pick(values))
                                       : Product(values.back(), left));
    }
    return Formulas{values.back()};
  });
}

// w ((w x) w) w by three places made 7,056 tasks where 4,096 may be.
TEST(ChooseTest, WithoutMarksNoModuleIsRefused) {
  int modules = 0, in_parts = 0;
  for (const int64_t n : {24, 2048}) {
    for (const int places : {2, 3, 4, 8}) {
      // Slow ones, so that much work is worth many messages.
      const std::vector<PlaceFigures> figures(
          places, {.steps = n == 24 ? 1e2 : 1e8, .bytes = 1e9});
      for (int draw = 0; draw < 3; ++draw, ++modules) {
        Random random(100 * places + draw);
        const Module module = DrawnProducts(n, draw + 2, random);
        const auto choice = ChooseSpec(module, figures, {{}, {}});
        ASSERT_OK(choice) << Print(module);
        EXPECT_LE(choice->sharding.tasks.size(), 4096u);
        if (choice->sharding.tasks.size() > 1) ++in_parts;
        if (n == 24 && choice->sharding.tasks.size() < 40) {
          ExpectWhole(module, choice->sharding, draw);
        }
      }
    }
  }
  std::cout << modules << " chains of products, " << in_parts << " in parts\n";
  EXPECT_GT(in_parts, modules / 2);
}

}  // namespace
}  // namespace hawser
