// Rewritten: a module with others for some of its instructions.
#ifndef HAWSER_CORE_OPS_REWRITTEN_H_
#define HAWSER_CORE_OPS_REWRITTEN_H_

#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser {

// Gives what stands for an instruction of computation `from`, made of these
// operands: an expression for each result; nullopt where it stays as it is.
using Replacement =
    absl::FunctionRef<absl::StatusOr<std::optional<std::vector<Expression>>>(
        const Computation& from, const Instruction& instruction,
        const std::vector<Expression>& operands)>;

// Copies `module`, in which `replace` is asked about each instruction but
// parameters. `numbers`, unless null: of each computation the number that it
// has in the copy, to which expressions may add others. Errors: those of
// `replace` and of the builder.
absl::StatusOr<Module> Rewritten(const Module& module, Replacement replace,
                                 std::vector<int>* numbers = nullptr);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_REWRITTEN_H_
