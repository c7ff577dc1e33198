// Runs a region by its points, as an emitter would read them: maps, scopes,
// symbols and stages are all it goes by. Slow, for tests.
#ifndef HAWSER_TESTS_KERNELS_PLAN_REGION_RUN_REGION_H_
#define HAWSER_TESTS_KERNELS_PLAN_REGION_RUN_REGION_H_

#include <vector>

#include "core/base/values/literal.h"
#include "kernels/plan/plan.h"

namespace hawser::plan {

// The results of the region's instruction for these operands. Loops are run
// merged (Region::loops) when `merged`.
std::vector<Literal> RunRegion(const Module& module, const Region& region,
                               const std::vector<Literal>& operands,
                               bool merged);

// The entry's results, each step run by its region. Every step must have
// points, be a constant or a view. Loops of no turn are left to the reference.
std::vector<Literal> RunByRegions(const Plan& plan,
                                  const std::vector<Literal>& arguments,
                                  bool merged);

}  // namespace hawser::plan
#endif  // HAWSER_TESTS_KERNELS_PLAN_REGION_RUN_REGION_H_
