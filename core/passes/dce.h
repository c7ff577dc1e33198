// Dead code elimination.
#ifndef HAWSER_CORE_PASSES_DCE_H_
#define HAWSER_CORE_PASSES_DCE_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser {

// Drops instructions no result needs and computations the entry does not
// reach. Parameters stay. Sets `*changed` when it dropped any.
absl::StatusOr<Module> EliminateDeadCode(Module module, bool* changed);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_DCE_H_
