// LoopNeeds: the parts of a loop that are computed for something outside of it.
#ifndef HAWSER_KERNELS_PLAN_STEPS_LOOP_NEEDS_H_
#define HAWSER_KERNELS_PLAN_STEPS_LOOP_NEEDS_H_

#include <vector>

#include "kernels/plan/plan.h"

namespace hawser::plan {

// A counted loop's counter is often made for the condition alone, which is not
// run.
struct LoopNeeds {
  std::vector<bool> states;  // that are read after the loop, or for those
  std::vector<bool> instructions;  // of the body: what these are made of
};

// Returns the needs of the while at `region` of `outside`. If its condition is
// run, which reads all states, everything is needed.
LoopNeeds NeedsOf(const Plan& plan, const ComputationPlan& outside,
                  const Region& region, bool runs_condition);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_STEPS_LOOP_NEEDS_H_
