// CountWork: the bytes and lane operations of a region.
#ifndef HAWSER_KERNELS_PLAN_REGION_WORK_H_
#define HAWSER_KERNELS_PLAN_REGION_WORK_H_

#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::plan {

// Iterations of the first `num_loops` loops of the region's domain.
int64_t IterationsOf(const Region& region, size_t num_loops);
// Bytes of one element of the access, of a region of `computation`.
int64_t ElementBytes(const Computation& computation, const Region& region,
                     const MemoryAccess& access);

// Fills in the bytes of each access of the region, the bytes the region reads
// and writes, its lane operations and what they take on `target`. `operands`
// are the values it reads.
void CountWork(const Computation& computation, const Target& target,
               absl::Span<const ValueId> operands, Region* region);

// Fills in the lane operations of a call of a convolution, and what they take.
void CountConvolution(const Computation& computation, const Instruction& call,
                      const Target& target, Region* region);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_WORK_H_
