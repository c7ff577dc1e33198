// An engine of a few lines: steps of a plan that note their slots, and runs
// over host memory.
#ifndef HAWSER_TESTS_KERNELS_PLAN_STEPS_HOST_RUN_H_
#define HAWSER_TESTS_KERNELS_PLAN_STEPS_HOST_RUN_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/values/literal.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::plan {

// Dies where the text is no module: that is the test's own mistake.
Module Parse(absl::string_view text);

// One region, and where it computes.
struct RegionWork {
  int computation = -1;
  int instruction = -1;
  RegionKind kind = RegionKind::kNone;
  std::vector<Slot> operands, results;
  Slot scratch;
};

class NotingEmitter : public RegionEmitter {
 public:
  absl::Status Add(const Site& site, StepBuilder& steps, Steps* to) override;

  std::vector<RegionWork> works;
};

struct Stepped {
  Plan plan;
  StepProgram program;
  std::vector<RegionWork> works;

  // The work of a step that must be one.
  const RegionWork& WorkOf(const Step& step) const {
    return works[std::get<WorkStep>(step.action).work];
  }
};
// A GPU on which every loop stays one.
Target LoopTarget();
Stepped StepsOf(const Module& module, const Target& target = LoopTarget());
// With a step for each instruction.
Stepped UnfusedStepsOf(const Module& module, const Target& target);

// Results of one run over memory that is poisoned first. `donate`: a result
// lies in the memory of the argument that it may take.
std::vector<Literal> RunOnHost(const Stepped& stepped,
                               const std::vector<Literal>& arguments,
                               bool donate);

// Rounds after every op, so that plans of a module agree in every bit.
std::vector<Literal> EvaluateStrictly(const Module& module, int computation,
                                      const std::vector<Literal>& arguments);

}  // namespace hawser::plan
#endif  // HAWSER_TESTS_KERNELS_PLAN_STEPS_HOST_RUN_H_
