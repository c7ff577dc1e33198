#include "kernels/plan/steps/loop_needs.h"

#include "absl/algorithm/container.h"

namespace hawser::plan {
namespace {

// True if an instruction after the loop reads this result, or the computation
// returns it.
bool IsReadBehind(const ComputationPlan& outside, const Computation& c,
                  const Region& region, ValueId result) {
  return outside.buffers.values[result].last > region.instruction ||
         absl::c_linear_search(c.results(), result);
}

}  // namespace

LoopNeeds NeedsOf(const Plan& plan, const ComputationPlan& outside,
                  const Region& region, bool runs_condition) {
  const Computation& c = plan.module.computation(outside.computation);
  const Instruction& loop = c.instructions()[region.instruction];
  const Computation& body = plan.module.computation(loop.called[1]);
  LoopNeeds needs{.states = std::vector<bool>(loop.num_results, runs_condition),
                  .instructions = std::vector<bool>(body.instructions().size(),
                                                    runs_condition)};
  if (runs_condition) return needs;
  std::vector<ValueId> open;
  const auto need_state = [&](int k) {
    if (needs.states[k]) return;
    needs.states[k] = true;
    open.push_back(body.results()[k]);
  };
  for (int k = 0; k < loop.num_results; ++k) {
    if (IsReadBehind(outside, c, region, loop.first_result + k)) need_state(k);
  }
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (v < loop.num_results) need_state(v);  // a state: its next one, too
    const int maker = body.producer(v);
    if (needs.instructions[maker]) continue;
    needs.instructions[maker] = true;
    for (const ValueId o : body.instructions()[maker].operands) {
      open.push_back(o);
    }
  }
  return needs;
}

}  // namespace hawser::plan
