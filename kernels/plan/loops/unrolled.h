// Unrolled: short loops of elementwise work, written out turn after turn.
#ifndef HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_H_
#define HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_H_

#include <optional>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Returns `module` without the loops whose turns are known, do only what a
// region is made of, and have together at most
// `target.unrolled_instructions`: their turns then fuse with each other and
// with what stands around them. nullopt: there are none. Every value stays the
// same.
absl::StatusOr<std::optional<Module>> Unrolled(const Module& module,
                                               const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_H_
