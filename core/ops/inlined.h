// Inlined: a computation's instructions, where it would be called.
#ifndef HAWSER_CORE_OPS_INLINED_H_
#define HAWSER_CORE_OPS_INLINED_H_

#include <vector>

#include "absl/types/span.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"

namespace hawser {

// Adds the instructions of `computation`, of the builder's module, with these
// values for its parameters; gives what its results became.
std::vector<ValueId> Inlined(const Computation& computation,
                             absl::Span<const ValueId> arguments,
                             ComputationBuilder* builder);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_INLINED_H_
