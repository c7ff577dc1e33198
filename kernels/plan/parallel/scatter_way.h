// ScatterWay: how the threads of a device share a scatter.
#ifndef HAWSER_KERNELS_PLAN_PARALLEL_SCATTER_WAY_H_
#define HAWSER_KERNELS_PLAN_PARALLEL_SCATTER_WAY_H_

#include <cstdint>

#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// By each of them the result is the same in every run: no float is added by
// threads in the order in which they come.
enum class ScatterWay : uint8_t {
  // Each thread owns places and walks all index vectors.
  kOwners,
  // Threads of the updates combine integers where they meet.
  kIntegers,
  // Largest or least f32, as integers that are ordered alike: the input is
  // written as these, combined, and written back.
  kOrdered,
  // A sum of f32 as one of integers (kernels/dialect/fixed.cuh): the largest
  // update of each place is found, which gives the unit of its sum.
  kFixedPoint,
};

// Returns the way of `scatter`, an instruction of kScatter. kOwners also where
// another form of it is better: few places, where threads would wait for each
// other, and places of which most get nothing.
ScatterWay WayOfScatter(const Module& module, const Computation& c,
                        const Instruction& scatter, const Target& target);

// Launches of a way, and bytes of scratch memory for an input of so many
// elements: kFixedPoint has s64 sums, then u32 largest updates.
int LaunchesOf(ScatterWay way);
int64_t ScratchBytesOf(ScatterWay way, int64_t elements);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_PARALLEL_SCATTER_WAY_H_
