// A computation that is called becomes part of the caller.
#ifndef HAWSER_CORE_PASSES_INLINE_CALLS_H_
#define HAWSER_CORE_PASSES_INLINE_CALLS_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser {

// Puts the computation of each `call` in its place. Computations that nothing
// calls any more stay. Sets `*changed` when there was one. Errors: kInternal.
absl::StatusOr<Module> InlineCalls(Module module, bool* changed);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_INLINE_CALLS_H_
