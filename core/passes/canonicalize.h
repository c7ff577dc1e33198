// Canonicalization: one form for what can be said in several.
#ifndef HAWSER_CORE_PASSES_CANONICALIZE_H_
#define HAWSER_CORE_PASSES_CANONICALIZE_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser {

// Takes out instructions that change nothing (a transpose that keeps every
// axis, a convert to the same dtype, a whole slice, a factor of 1, a select by a
// constant) and merges transpose, reshape and broadcast with one of their own
// kind before them. Exact to the bit; a signaling NaN times 1 stays one. Sets `*changed` when it did any of it.
absl::StatusOr<Module> Canonicalize(Module module, bool* changed);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_CANONICALIZE_H_
