// EvaluateInstruction: one instruction of a module, by an evaluator.
#ifndef HAWSER_TESTS_KERNELS_ONE_INSTRUCTION_H_
#define HAWSER_TESTS_KERNELS_ONE_INSTRUCTION_H_

#include <vector>

#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"

namespace hawser {

// Its results for these operands by `evaluator`, with `attributes` in place of
// its own. A failure, and nothing, where it is refused.
std::vector<Literal> EvaluateInstruction(runtime::HostEvaluator& evaluator,
                                         const Module& module,
                                         const Instruction& instruction,
                                         const std::vector<Literal>& operands,
                                         Attributes attributes);
// By the rows of the CPU in strict numerics, whose bits its other ways to
// compute have too.
std::vector<Literal> EvaluateInstruction(const Module& module,
                                         const Instruction& instruction,
                                         const std::vector<Literal>& operands,
                                         Attributes attributes);
inline std::vector<Literal> EvaluateInstruction(
    const Module& module, const Instruction& instruction,
    const std::vector<Literal>& operands) {
  return EvaluateInstruction(module, instruction, operands,
                             instruction.attributes);
}

}  // namespace hawser
#endif  // HAWSER_TESTS_KERNELS_ONE_INSTRUCTION_H_
