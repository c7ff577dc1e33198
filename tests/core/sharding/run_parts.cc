#include "tests/core/sharding/run_parts.h"

#include <cstring>

#include "core/base/status.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser {
namespace {

// Calls fn(index in the whole, index in the box) for each element of the box.
template <typename Fn>
void ForEachIn(const Shape& whole, const Box& box, Fn fn) {
  const Dims sizes = SizesOf(box);
  for (int64_t i = 0; i < ElementsOf(box); ++i) {
    int64_t from = 0, left = i, step = 1;
    for (int axis = static_cast<int>(box.size()) - 1; axis >= 0; --axis) {
      from += (box[axis].begin + left % sizes[axis]) * step;
      left /= sizes[axis];
      step *= whole.dim(axis);
    }
    fn(from, i);
  }
}

}  // namespace

absl::StatusOr<std::vector<Literal>> RunModule(
    const Module& module, absl::Span<const Literal> arguments) {
  static auto& evaluator = *new cpu::CpuEvaluator();
  return evaluator.Evaluate(module,
                            static_cast<int>(module.computations().size()) - 1,
                            arguments, CancelToken());
}

Literal CutOf(const Literal& whole, const Box& box) {
  Literal part = Literal::Zeros(ShapeOf(whole.shape(), box));
  const size_t width = ByteWidth(whole.shape().dtype());
  ForEachIn(whole.shape(), box, [&](int64_t from, int64_t to) {
    std::memcpy(part.mutable_bytes().data() + to * width,
                whole.bytes().data() + from * width, width);
  });
  return part;
}

std::vector<Literal> ArgumentsOf(absl::Span<const Piece> takes,
                                 absl::Span<const int64_t> offsets,
                                 absl::Span<const Literal> arguments) {
  std::vector<Literal> values;
  for (const Piece& piece : takes) {
    values.push_back(CutOf(arguments[piece.value], piece.box));
  }
  for (int64_t offset : offsets) {
    values.push_back(Literal::Scalar<int64_t>(offset));
  }
  return values;
}

bool SumsFloats(const Module& module) {
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.op != &kReduce && instruction.op != &kDotGeneral) {
        continue;
      }
      const DType dtype = computation.shape(instruction.operands[0]).dtype();
      if (IsFloat(dtype) || IsComplex(dtype)) return true;
    }
  }
  return false;
}

Tolerance ToleranceOf(const Module& module) {
  if (!SumsFloats(module)) return {};
  return {.atol = 0.05, .rtol = 0.02};
}

absl::StatusOr<std::vector<Literal>> RunTasks(
    const Sharding& sharding, absl::Span<const Literal> arguments) {
  std::vector<Literal> results;
  std::vector<std::vector<int>> given;
  for (const Shape& shape : sharding.whole.results) {
    results.push_back(Literal::Zeros(shape));
    given.emplace_back(shape.num_elements(), 0);
  }
  for (const ShardTask& task : sharding.tasks) {
    HAWSER_ASSIGN_OR_RETURN(
        const auto parts,
        RunModule(*task.module,
                  ArgumentsOf(task.takes, task.offsets, arguments)));
    for (size_t i = 0; i < task.gives.size(); ++i) {
      const Piece& place = task.gives[i];
      Literal& result = results[place.value];
      if (parts[i].shape() != ShapeOf(result.shape(), place.box)) {
        return Internal("result ", i, " of a task is ",
                        parts[i].shape().ToString());
      }
      const size_t width = ByteWidth(result.shape().dtype());
      ForEachIn(result.shape(), place.box, [&](int64_t to, int64_t from) {
        ++given[place.value][to];
        std::memcpy(result.mutable_bytes().data() + to * width,
                    parts[i].bytes().data() + from * width, width);
      });
    }
  }
  for (size_t k = 0; k < given.size(); ++k) {
    for (int times : given[k]) {
      if (times != 1) {
        return Internal("an element of result ", k, " is given ", times,
                        " times");
      }
    }
  }
  return results;
}

void ExpectWhole(const Module& module, const Sharding& sharding,
                 uint64_t seed) {
  Random random(seed);
  const auto arguments =
      RandomArguments(module.signature(), random, !SumsFloats(module));
  const auto whole = RunModule(module, arguments);
  ASSERT_OK(whole) << "seed " << seed;
  const auto got = RunTasks(sharding, arguments);
  ASSERT_OK(got) << "seed " << seed << "\n" << Print(module);
  for (size_t k = 0; k < whole->size(); ++k) {
    EXPECT_OK(CompareLiterals((*got)[k], (*whole)[k], ToleranceOf(module)))
        << "seed " << seed << ", result " << k << "\n"
        << Print(module);
  }
}

}  // namespace hawser
