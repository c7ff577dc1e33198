// A part is that part of the whole: the same bits, but for sums of floats,
// which are added up in another order.
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/registry.h"
#include "core/sharding/part_module.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

// Boxes drawn of each pair of op and dtype.
constexpr int kBoxes = 20;
constexpr uint64_t kGraphs = 300;

// Mostly small parts; all of an axis, one index, nothing, too.
Box RandomBox(const Shape& shape, Random& random) {
  Box box;
  for (int64_t size : shape.dims()) {
    if (random.OneIn(4)) {
      box.push_back({0, size});
      continue;
    }
    const int64_t begin = random.Between(0, size);
    const int64_t end = random.OneIn(16) ? begin : random.Between(begin, size);
    box.push_back({begin, end});
  }
  return box;
}

// Draws boxes of the results and compares.
void ExpectPartsOfTheWhole(const Module& module, Random& random,
                           const std::string& which) {
  const bool sums = SumsFloats(module);
  const auto arguments = RandomArguments(module.signature(), random, !sums);
  const auto whole = RunModule(module, arguments);
  ASSERT_OK(whole) << which;
  std::vector<Piece> gives;
  for (int k = 0; k < static_cast<int>(whole->size()); ++k) {
    while (!random.OneIn(gives.empty() ? 8 : 2)) {
      gives.push_back({k, RandomBox((*whole)[k].shape(), random)});
    }
  }
  const auto part = PartOf(module, gives);
  ASSERT_OK(part) << which << "\n" << Print(module);
  const std::vector<Literal> pieces =
      ArgumentsOf(part->takes, part->offsets, arguments);
  const auto got = RunModule(part->module, pieces);
  ASSERT_OK(got) << which << "\n" << Print(module) << Print(part->module);
  ASSERT_EQ(got->size(), gives.size());
  for (size_t i = 0; i < gives.size(); ++i) {
    const auto& [k, box] = gives[i];
    EXPECT_OK(CompareLiterals((*got)[i], CutOf((*whole)[k], box),
                              ToleranceOf(module)))
        << which << ", result " << k << " " << ToString(box) << "\n"
        << Print(module) << Print(part->module);
  }
}

TEST(Parts, OfEveryOpAndDTypeAreThoseOfTheWhole) {
  int pairs = 0, boxes = 0;
  for (const OpDef* op : AllOps()) {
    if (op->Is(kNullary) || op == &kFusion) continue;
    for (DType dtype : AllDTypes()) {
      ++pairs;
      for (int i = 0; i < kBoxes; ++i, ++boxes) {
        const uint64_t seed = 1000 * pairs + i;
        Random random(seed);
        const Module module = RandomModule(
            seed,
            {.instructions = 1, .dtypes = DTypeSet::Of(dtype), .ops = {op}});
        ExpectPartsOfTheWhole(
            module, random,
            absl::StrCat(op->name, " of ", DTypeName(dtype), ", seed ", seed));
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
  std::cout << boxes << " boxes of " << pairs << " pairs of op and dtype\n";
}

TEST(Parts, OfRandomGraphsAreThoseOfTheWhole) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Random random(seed);
    ExpectPartsOfTheWhole(RandomModule(seed), random,
                          absl::StrCat("seed ", seed));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

}  // namespace
}  // namespace hawser
