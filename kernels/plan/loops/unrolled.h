// Unrolled: iterations of loops of elementwise work, written out one after the
// other.
#ifndef HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_H_
#define HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_H_

#include <optional>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Returns `module` with iterations of its known loops written out, so that they
// fuse with each other: at most `target.unrolled_instructions` in one place. A
// loop that does only what a region is made of and has no more is gone; of one
// whose iterations compute element by element, an iteration does the work of
// many. nullopt: there are none. Every value stays the same.
absl::StatusOr<std::optional<Module>> Unrolled(const Module& module,
                                               const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_H_
