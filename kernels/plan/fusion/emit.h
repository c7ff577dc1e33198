// EmitGroups: the groups of a computation written as ordinary IR, in the order
// they run.
#ifndef HAWSER_KERNELS_PLAN_FUSION_EMIT_H_
#define HAWSER_KERNELS_PLAN_FUSION_EMIT_H_

#include "absl/status/statusor.h"
#include "kernels/plan/fusion/fused_bodies.h"
#include "kernels/plan/fusion/groups.h"

namespace hawser::plan {

// `called` maps computations of the old module to those of the bodies' module,
// to which the new one is added. Returns its number.
// Errors: kInternal when groups wait for each other.
absl::StatusOr<int> EmitGroups(const Groups& groups,
                               absl::Span<const int> called,
                               FusedBodies* bodies);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_EMIT_H_
