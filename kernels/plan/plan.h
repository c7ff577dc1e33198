// MakePlan: a module fused, scheduled and given memory, for any engine.
// FIXED: engines are written over this header; fields may be added.
#ifndef HAWSER_KERNELS_PLAN_PLAN_H_
#define HAWSER_KERNELS_PLAN_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/memory/buffers.h"
#include "kernels/plan/region/region.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// One computation that an engine steps through: the entry, and what while and
// case call. The instructions stand in the order they run.
struct ComputationPlan {
  int computation = -1;
  Regions regions;  // one per instruction
  BufferPlan buffers;
  // The result of FindWanted; entries of a sort's results that are not wanted
  // may stay undefined.
  std::vector<int64_t> wanted;
};

struct Plan {
  // Ordinary IR: fusion instructions call the computation they stand for, so
  // printer, parser, verifier and evaluator take it as it is.
  Module module;
  // Indexed by computation of `module`; those only a fusion, a reduction or a
  // scatter calls have no steps of their own and an empty entry.
  std::vector<ComputationPlan> computations;
  int64_t alignment = 1;  // of every buffer in an arena: the target's

  const ComputationPlan& entry() const { return computations.back(); }
};

// Fuses `module` for `target`. The result computes what the forms that the
// target asks for (wide_sums.h, sorted_scatters.h, selections.h, convolution.h,
// tiling.h, dot_layout.h) make of `module`, bit for bit on an engine that runs the same
// primitives. `module` must be verified;
// it should be optimized (core/passes) first.
absl::StatusOr<Module> FuseModule(const Module& module, const Target& target);

// Plans the regions and buffers of a module that is fused already, or never
// was.
absl::StatusOr<Plan> PlanFused(Module fused, const Target& target);

// Fuses the module, then plans its regions and buffers.
absl::StatusOr<Plan> MakePlan(const Module& module, const Target& target);

// The launches and bytes of `computation`'s steps in one run of each.
struct PlanCost {
  int64_t launches = 0;
  int64_t bytes = 0;   // read and written
  double seconds = 0;  // by the target's costs
};
PlanCost CostOf(const ComputationPlan& plan, const Target& target);

// A line per step: kind, instruction, loops, bytes, where the results live.
std::string Explain(const Plan& plan, const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_PLAN_H_
