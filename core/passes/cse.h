// Common subexpression elimination.
#ifndef HAWSER_CORE_PASSES_CSE_H_
#define HAWSER_CORE_PASSES_CSE_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser {

// Instructions with the same op, operands, attributes and computations become
// one, and so do computations with the same instructions (the entry apart).
// Operands of commutative ops count in any order. Sets `*changed` when it
// merged any.
absl::StatusOr<Module> EliminateCommonSubexpressions(Module module,
                                                     bool* changed);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_CSE_H_
