#include "tests/kernels/one_instruction.h"

#include <utility>

#include "core/ir/builder.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "tests/testing/matchers.h"

namespace hawser {

std::vector<Literal> EvaluateInstruction(runtime::HostEvaluator& evaluator,
                                         const Module& module,
                                         const Instruction& instruction,
                                         const std::vector<Literal>& operands,
                                         Attributes attributes) {
  Module one = module;
  ComputationBuilder b(&one, "one");
  std::vector<ValueId> parameters;
  for (const Literal& l : operands) {
    parameters.push_back(b.Parameter(l.shape()));
  }
  const ValueId first = b.Add(*instruction.op, parameters,
                              std::move(attributes), instruction.called);
  EXPECT_OK(b.status());
  if (!b.status().ok()) return {};
  std::vector<ValueId> results;
  for (int k = 0; k < instruction.num_results; ++k) {
    results.push_back(first + k);
  }
  const auto entry = b.Finish(results);
  EXPECT_OK(entry);
  if (!entry.ok()) return {};
  auto got = evaluator.Evaluate(one, *entry, operands, CancelToken());
  EXPECT_OK(got);
  return got.ok() ? *std::move(got) : std::vector<Literal>();
}

std::vector<Literal> EvaluateInstruction(const Module& module,
                                         const Instruction& instruction,
                                         const std::vector<Literal>& operands,
                                         Attributes attributes) {
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  return EvaluateInstruction(evaluator, module, instruction, operands,
                             std::move(attributes));
}

}  // namespace hawser
