// Scatters by sorted places give what the definition gives, and which ones stay
// as they are.
#include "core/ops/scatters/sorted_scatters.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/builder.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/scatter.h"
#include "gtest/gtest.h"
#include "tests/reference/evaluator.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

struct Scatter {
  Shape input, indices, updates;
  int64_t vector_axis = 0;
  Dims inserted, map, window;
  const OpDef* fold = &kAdd;  // nullptr: the last update
};

Module ModuleOf(const Scatter& s) {
  Module module("scatter");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  const DType dtype = s.input.dtype();
  const ValueId input = b.Parameter(s.input);
  const ValueId indices = b.Parameter(s.indices);
  const ValueId updates = b.Parameter(s.updates);
  const int fold = s.fold == nullptr ? monoids.FindSecond(dtype, &module)
                                     : monoids.Find(*s.fold, dtype, &module);
  const ValueId result = b.Add(kScatter, {input, indices, updates},
                               {{"index_vector_dim", s.vector_axis},
                                {"inserted_window_dims", s.inserted},
                                {"scatter_dims_to_operand_dims", s.map},
                                {"update_window_dims", s.window}},
                               {fold});
  EXPECT_OK(b.Finish({result}));
  return module;
}

// Vectors of one or two axes, which name places of some axes of the input.
Scatter Drawn(Random& random) {
  Scatter s;
  const int rank = static_cast<int>(random.Between(1, 3));
  Dims dims;
  for (int k = 0; k < rank; ++k) dims.push_back(random.Between(1, 5));
  const int components = static_cast<int>(random.Between(1, rank));
  while (static_cast<int>(s.map.size()) < components) {
    const int64_t axis = random.Below(rank);
    if (std::count(s.map.begin(), s.map.end(), axis) == 0) {
      s.map.push_back(axis);
    }
  }
  Dims vectors;
  for (int64_t n = random.Between(1, 2); n > 0; --n) {
    vectors.push_back(random.Between(1, 6));
  }
  Dims indices = vectors;
  s.vector_axis = random.Between(0, static_cast<int64_t>(vectors.size()));
  indices.insert(indices.begin() + s.vector_axis, components);
  // An axis that is moved along is left out of windows, or has size 1 there.
  Dims sizes;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool moved = std::count(s.map.begin(), s.map.end(), axis) != 0;
    if (moved && random.OneIn(2)) {
      s.inserted.push_back(axis);
    } else {
      sizes.push_back(moved ? 1 : dims[axis]);
    }
  }
  Dims updates = vectors;
  for (size_t k = 0; k < sizes.size(); ++k) {
    const int64_t at = s.window.empty()
                           ? random.Between(0, static_cast<int64_t>(k))
                           : s.window.back() + 1;
    s.window.push_back(std::min<int64_t>(at, updates.size()));
    updates.insert(updates.begin() + s.window.back(), sizes[k]);
  }
  const OpDef* folds[] = {&kAdd,     &kMultiply, &kMaximum,
                          &kMinimum, &kOr,       nullptr};
  s.fold = folds[random.Below(6)];
  const DType dtype = random.PickDType(s.fold == nullptr ? kAnyDType
                                       : s.fold == &kOr  ? kInts
                                                         : kReals);
  s.input = Shape::Of(dtype, dims);
  s.indices = Shape::Of(random.PickDType(kInts), indices);
  s.updates = Shape::Of(dtype, updates);
  return s;
}

absl::StatusOr<std::vector<Literal>> Evaluated(
    const Module& module, absl::Span<const Literal> given) {
  return reference::Evaluator().Evaluate(
      module, static_cast<int>(module.computations().size()) - 1, given,
      CancelToken());
}

TEST(SortedScatters, GiveWhatTheDefinitionGives) {
  int unchanged = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Scatter s = Drawn(random);
    const Module module = ModuleOf(s);
    ASSERT_TRUE(HasLongScatters(module, 1)) << seed << Print(module);
    const auto sorted = WithSortedScatters(module, 1);
    ASSERT_OK(sorted);
    ASSERT_OK(Verify(*sorted));
    // Small quarters: sums are exact, products nearly so.
    const auto given =
        RandomArguments(module.signature(), random, /*extremes=*/false);
    const auto expected = Evaluated(module, given),
               got = Evaluated(*sorted, given);
    ASSERT_OK(expected);
    ASSERT_OK(got);
    if (s.fold == &kMultiply && !IsInteger(s.input.dtype())) continue;
    EXPECT_EQ((*got)[0].ToString(1000), (*expected)[0].ToString(1000))
        << "seed " << seed << "\n"
        << Print(module) << Print(*sorted);
    unchanged += (*expected)[0].bytes() == given[0].bytes() ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_LT(unchanged, 300);
}

// A million updates of one place are no work of one thread: no instruction has
// updates times places elements.
TEST(SortedScatters, WorkGrowsWithUpdatesAndPlaces) {
  const Module module = ModuleOf({.input = Shape::Of(DType::kF32, {1 << 20}),
                                  .indices = Shape::Of(DType::kS32, {1 << 20}),
                                  .updates = Shape::Of(DType::kF32, {1 << 20}),
                                  .vector_axis = 1,
                                  .inserted = {0},
                                  .map = {0}});
  const auto sorted = WithSortedScatters(module, 1024);
  ASSERT_OK(sorted);
  EXPECT_LT(sorted->num_instructions(), 400);
  for (const Computation& c : sorted->computations()) {
    for (int v = 0; v < c.num_values(); ++v) {
      EXPECT_LE(c.shape(v).num_elements(), 1 << 20);
    }
    for (const Instruction& i : c.instructions()) EXPECT_NE(i.op, &kScatter);
  }
}

TEST(SortedScatters, WhatStays) {
  const Scatter rows = {.input = Shape::Of(DType::kF32, {8, 4}),
                        .indices = Shape::Of(DType::kS32, {5}),
                        .updates = Shape::Of(DType::kF32, {5, 4}),
                        .vector_axis = 1,
                        .inserted = {0},
                        .map = {0},
                        .window = {1}};
  EXPECT_TRUE(HasLongScatters(ModuleOf(rows), 5));
  EXPECT_FALSE(HasLongScatters(ModuleOf(rows), 6));
  EXPECT_FALSE(HasLongScatters(ModuleOf(rows), 0));
  Scatter part = rows;  // a window that is not whole
  part.updates = Shape::Of(DType::kF32, {5, 3});
  EXPECT_FALSE(HasLongScatters(ModuleOf(part), 1));
  Scatter moved = rows;  // windows that overlap
  moved.inserted = {};
  moved.window = {1, 2};
  moved.updates = Shape::Of(DType::kF32, {5, 2, 4});
  EXPECT_FALSE(HasLongScatters(ModuleOf(moved), 1));
  Scatter other = rows;  // what is no monoid
  other.fold = &kSubtract;
  EXPECT_FALSE(HasLongScatters(ModuleOf(other), 1));
  Scatter empty = rows;
  empty.indices = Shape::Of(DType::kS32, {0});
  empty.updates = Shape::Of(DType::kF32, {0, 4});
  EXPECT_FALSE(HasLongScatters(ModuleOf(empty), 1));
}

}  // namespace
}  // namespace hawser
