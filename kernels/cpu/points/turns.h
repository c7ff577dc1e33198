// Turns: words whose bits move in a circle, which the IR writes as two shifts
// and an or.
#ifndef HAWSER_KERNELS_CPU_POINTS_TURNS_H_
#define HAWSER_KERNELS_CPU_POINTS_TURNS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// operands[0], its bits turned left by operands[1]: one constant above 0 and
// below the words' bits.
struct Turn {
  plan::PointId operands[2];
};
// By their `or`: of words of 4 and of 8 bytes, where nothing else uses the
// shifts, of points that stand in one scope. `uses`: as of UsesOf.
absl::flat_hash_map<plan::PointId, Turn> FindTurns(
    const Module& module, const plan::Region& region,
    const std::vector<int>& uses);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINTS_TURNS_H_
