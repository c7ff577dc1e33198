// Verdicts: what of a plan will be slow on its target, seen by sizes alone.
#ifndef HAWSER_KERNELS_PLAN_VERDICT_H_
#define HAWSER_KERNELS_PLAN_VERDICT_H_

#include <cstdint>
#include <string>

#include "core/ir/module.h"
#include "kernels/plan/region/region.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// The blocks of threads of a region's largest launch; 0 where its engine
// decides.
int64_t BlocksOf(const Region& region, const Target& target);

// What is slow about a region, in words; empty: nothing is. A region starves if
// its bytes take more than 20 us of all of the device's memory and its blocks
// fill less than a third of the device; a scatter by owners walks all index
// vectors in each thread; a product may have neither a call of the library nor
// matrix instructions; what runs on the host stops the device.
std::string VerdictOf(const Module& module, const Region& region,
                      const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_VERDICT_H_
