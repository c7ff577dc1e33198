// Rotates: the IR writes a rotation of bits as two shifts and an or.
#ifndef HAWSER_KERNELS_CPU_POINTS_ROTATES_H_
#define HAWSER_KERNELS_CPU_POINTS_ROTATES_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// operands[0], rotated left by operands[1]: one constant above 0 and below the
// number of bits.
struct Rotate {
  plan::PointId operands[2];
};
// Finds the rotates of integers of 4 and 8 bytes, by their `or`. Its shifts
// stand in its scope, and nothing else uses them. `uses`: as UsesOf returns it.
absl::flat_hash_map<plan::PointId, Rotate> FindRotates(
    const Module& module, const plan::Region& region,
    const std::vector<int>& uses);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINTS_ROTATES_H_
