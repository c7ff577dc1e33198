// WalkScatter: a scatter's updates, combined one after the other.
#ifndef HAWSER_KERNELS_CPU_MOVEMENT_SCATTER_WALK_H_
#define HAWSER_KERNELS_CPU_MOVEMENT_SCATTER_WALK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/movement/combiner.h"
#include "kernels/cpu/movement/scatter_axes.h"

namespace hawser::cpu {

// Steps to find where one box goes, in memory that no cache holds.
inline constexpr double kBoxSteps = 16;

// Elements of one axis of the inputs that a walk writes to; axis -1: all.
struct ScatterPart {
  int axis = -1;
  int64_t begin = 0, end = 0;
};

// Walks all index vectors and combines what falls into the part. Used by one
// thread. Errors: the combiner's, the token's.
absl::Status WalkScatter(const KernelContext& c, const ScatterAxes& axes,
                         const ScatterPart& part, Combiner& combiner);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MOVEMENT_SCATTER_WALK_H_
