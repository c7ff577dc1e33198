// Finds how a region's loads and stores meet memory, once its points are known.
#ifndef HAWSER_KERNELS_PLAN_REGION_ACCESSES_H_
#define HAWSER_KERNELS_PLAN_REGION_ACCESSES_H_

#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::plan {

// Merges the loops and fills in loops, accesses, vector width, bytes and lane
// operations. `operands` are the values the region reads, `results` those it
// writes, both as the region's instruction counts them. A loop whose reads
// cross its writes becomes a tiled transpose.
void FindAccesses(const Computation& computation,
                  absl::Span<const ValueId> operands,
                  absl::Span<const ValueId> results, const Target& target,
                  Region* region);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_ACCESSES_H_
