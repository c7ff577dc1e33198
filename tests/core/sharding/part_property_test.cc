// A part is that part of the whole: the same bits, but for sums of floats,
// which are added up in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/compare.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/registry.h"
#include "core/sharding/part_module.h"
#include "kernels/cpu/evaluator.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {
namespace {

// Boxes drawn of each pair of op and dtype.
constexpr int kBoxes = 20;
constexpr uint64_t kGraphs = 300;

absl::StatusOr<std::vector<Literal>> Run(const Module& module,
                                         absl::Span<const Literal> arguments) {
  static auto& evaluator = *new cpu::CpuEvaluator();
  return evaluator.Evaluate(module,
                            static_cast<int>(module.computations().size()) - 1,
                            arguments, CancelToken());
}

// Element by element, so that it shares nothing with what it checks.
Literal Cut(const Literal& whole, const Box& box) {
  Literal part = Literal::Zeros(ShapeOf(whole.shape(), box));
  const size_t width = ByteWidth(whole.shape().dtype());
  const Dims sizes = SizesOf(box);
  for (int64_t i = 0; i < part.shape().num_elements(); ++i) {
    int64_t from = 0, left = i, step = 1;
    for (int axis = static_cast<int>(box.size()) - 1; axis >= 0; --axis) {
      from += (box[axis].begin + left % sizes[axis]) * step;
      left /= sizes[axis];
      step *= whole.shape().dim(axis);
    }
    std::memcpy(part.mutable_bytes().data() + i * width,
                whole.bytes().data() + from * width, width);
  }
  return part;
}

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

bool AddsInAnotherOrder(const Module& module) {
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.op != &kReduce && instruction.op != &kDotGeneral)
        continue;
      const DType dtype = computation.shape(instruction.operands[0]).dtype();
      if (IsFloat(dtype) || IsComplex(dtype)) return true;
    }
  }
  return false;
}

// Draws boxes of the results and compares.
void ExpectPartsOfTheWhole(const Module& module, Random& random,
                           const std::string& which) {
  const bool sums = AddsInAnotherOrder(module);
  const auto arguments = RandomArguments(module.signature(), random, !sums);
  const auto whole = Run(module, arguments);
  ASSERT_OK(whole) << which;
  std::vector<MaybeBox> gives;
  for (const Literal& result : *whole) {
    gives.emplace_back();
    if (random.OneIn(8)) continue;
    gives.back() = RandomBox(result.shape(), random);
  }
  const auto part = PartOf(module, gives);
  ASSERT_OK(part) << which << "\n" << Print(module);
  std::vector<Literal> pieces;
  for (const Piece& piece : part->takes) {
    pieces.push_back(Cut(arguments[piece.parameter], piece.box));
  }
  for (int64_t offset : part->offsets) {
    pieces.push_back(Literal::Scalar<int64_t>(offset));
  }
  const auto got = Run(part->module, pieces);
  ASSERT_OK(got) << which << "\n" << Print(module) << Print(part->module);
  auto next = got->begin();
  for (size_t k = 0; k < gives.size(); ++k) {
    if (!gives[k].has_value()) continue;
    ASSERT_NE(next, got->end());
    Tolerance tolerance;
    if (sums) tolerance = {.atol = 0.05, .rtol = 0.02};
    EXPECT_OK(CompareLiterals(*next++, Cut((*whole)[k], *gives[k]), tolerance))
        << which << ", result " << k << " " << ToString(*gives[k]) << "\n"
        << Print(module) << Print(part->module);
  }
  EXPECT_EQ(next, got->end());
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
