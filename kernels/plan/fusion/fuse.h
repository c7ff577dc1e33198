// FuseComputation: the fusion decisions for one computation.
#ifndef HAWSER_KERNELS_PLAN_FUSION_FUSE_H_
#define HAWSER_KERNELS_PLAN_FUSION_FUSE_H_

#include "core/ir/module.h"
#include "kernels/plan/fusion/groups.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Every live instruction but parameters is in at least one group; no two
// groups wait for each other. Both arguments outlive the result.
Groups FuseComputation(const Computation& computation, const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_FUSE_H_
