// A part is that part of the whole: the same bits, but for sums of floats,
// which are added up in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/registry.h"
#include "core/sharding/part/part_module.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

// Boxes drawn of each pair of op and dtype.
constexpr int kBoxes = 20 * HAWSER_TIMES;
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
    if (op->Is(kNullary) || op == &kFusion ||
        op == &kCall) {
      continue;
    }
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
  const auto cut = std::count_if(
      AllOps().begin(), AllOps().end(),
      [](const OpDef* op) { return op->part.kind != PartDef::kWhole; });
  std::cout << boxes << " boxes of " << pairs << " pairs of op and dtype; "
            << cut << " of " << AllOps().size()
            << " ops have a part rule other than whole\n";
  EXPECT_EQ(cut, AllOps().size() - 2) << "all but fusion and call";
}

TEST(Parts, OfRandomGraphsAreThoseOfTheWhole) {
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    Random random(seed);
    ExpectPartsOfTheWhole(RandomModule(seed), random,
                          absl::StrCat("seed ", seed));
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

// A state f32[2^28] that each turn takes over from its neighbour.
Module ShiftingLoop() {
  const Shape state = Shape::Of(DType::kF32, {1 << 28});
  const Shape turn = Shape::Scalar(DType::kS32);
  Module module("shifting");
  ComputationBuilder c(&module, "condition");
  c.Parameter(state);
  const ValueId last = c.Constant(Literal::Scalar<int32_t>(3));
  const int condition = *c.Finish({c.Add(kCompare, {c.Parameter(turn), last},
                                         {{"direction", std::string("LT")}})});
  ComputationBuilder b(&module, "body");
  const ValueId all = b.Parameter(state);
  const ValueId one = b.Constant(Literal::Scalar<int32_t>(1));
  const ValueId zero = b.Constant(Literal::Scalar<float>(0));
  const ValueId rest = b.Add(kSlice, {all},
                             {{"start_indices", Dims{1}},
                              {"limit_indices", Dims{1 << 28}},
                              {"strides", Dims{1}}});
  const ValueId shifted = b.Add(kPad, {rest, zero},
                                {{"edge_padding_low", Dims{0}},
                                 {"edge_padding_high", Dims{1}},
                                 {"interior_padding", Dims{0}}});
  const int body = *b.Finish({shifted, b.Add(kAdd, {b.Parameter(turn), one})});
  ComputationBuilder m(&module, "main");
  const ValueId first = m.Add(kWhile, {m.Parameter(state), m.Parameter(turn)},
                              {}, {condition, body});
  EXPECT_OK(m.Finish({first, first + 1}));
  return module;
}

// One turn more would ask for one element more, 2^28 times.
TEST(Parts, OfALoopThatShiftsItsStateCloseSoon) {
  ASSERT_OK_AND_ASSIGN(const PartModule part,
                       PartOf(ShiftingLoop(), {Piece{0, {{5, 6}}}}));
  ASSERT_EQ(part.takes.size(), 2u);
  EXPECT_EQ(part.takes[0], (Piece{0, {{0, 1 << 28}}}));
}

}  // namespace
}  // namespace hawser
