// Tiling: what is computed between a large product and the reductions and
// products it ends in, tile by tile.
#ifndef HAWSER_KERNELS_PLAN_TILING_TILING_H_
#define HAWSER_KERNELS_PLAN_TILING_TILING_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Returns `module` with loops for the groups of large products of its marked
// computations (tiled_group.h): their values are then never whole in memory.
// nullopt: there are none. What is computed stays the same but for the sizes of
// products, and for what is computed again. Errors: kInternal, an op without a
// part rule.
absl::StatusOr<std::optional<Module>> Tiled(const Module& module,
                                            const std::vector<bool>& marked,
                                            const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_TILING_TILING_H_
