// MakeSteps: makes steps of a plan's regions, computation by computation.
#ifndef HAWSER_KERNELS_PLAN_STEPS_STEP_BUILDER_H_
#define HAWSER_KERNELS_PLAN_STEPS_STEP_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/steps/loop_needs.h"
#include "kernels/plan/steps/steps.h"

namespace hawser::plan {

// The slots that a computation's own values have in the memory of the run.
struct Frame {
  std::vector<Slot> arguments;
  std::vector<Slot> results;
  int64_t arena = 0;  // where its arena begins
};

// One instruction, where it stands.
struct Site {
  const ComputationPlan& plan;
  const Computation& computation;
  const Region& region;
  const Instruction& instruction;
  int number;  // of the instruction, in `computation`
  const Frame& frame;
};

class StepBuilder;

// An engine's part: what its regions are.
class RegionEmitter {
 public:
  virtual ~RegionEmitter() = default;
  // Adds the steps of one region to `to`: work, and copies where the work
  // writes over what must stay. Called for every region but those of kNone,
  // kConstant, kView and kControl, in the order they run; once for each place
  // that calls the region's computation. An error ends MakeSteps.
  virtual absl::Status Add(const Site& site, StepBuilder& steps, Steps* to) = 0;
};

// Errors: the emitter's, after the name of the instruction.
absl::StatusOr<StepProgram> MakeSteps(const Plan& plan, RegionEmitter& emitter);

// "%12 (sort)"; of a fusion the ops in it: "%7 (add multiply)".
std::string NameOf(const Module& module, const Instruction& instruction);

// Emitters use it during their call. Invariant: memory after the plan's arena
// that loops have taken, [0, extra_) of it, is in use until the control flow
// that took it is laid out.
class StepBuilder {
 public:
  Slot OperandSlot(const Site& site, int operand) {
    return SlotOf(site.plan, site.frame, site.instruction.operands[operand]);
  }
  Slot ResultSlot(const Site& site, int result) {
    return SlotOf(site.plan, site.frame,
                  site.instruction.first_result + result);
  }
  // The memory that the region needs for itself while it runs:
  // Region::scratch_bytes.
  Slot ScratchSlot(const Site& site) const;
  // Adds a copy, unless both are the same memory or have no bytes.
  void AddCopy(const Slot& to, const Slot& from, Steps* steps);
  // A line of the explanation: the instruction, and `what` of it.
  void Note(const Site& site, absl::string_view what);

 private:
  friend absl::StatusOr<StepProgram> MakeSteps(const Plan& plan,
                                               RegionEmitter& emitter);

  StepBuilder(const Plan& plan, RegionEmitter& emitter)
      : plan_(plan), emitter_(emitter) {}

  absl::StatusOr<StepProgram> Build();
  void DescribeResults();

  // Adds the steps of those instructions of a computation that are `needed`;
  // empty: of all. Afterwards every result that these make and is no alias is
  // in its place.
  absl::Status AddComputation(int computation, const Frame& frame, Steps* to,
                              const std::vector<bool>& needed = {});
  absl::Status AddInstruction(const Site& site, Steps* to);
  absl::Status AddControl(const Site& site, Steps* to);
  absl::Status AddWhile(const Site& site, Steps* to);
  absl::Status AddCase(const Site& site, Steps* to);
  // Adds an iteration of a loop over the states, `outside.arguments`, in place.
  absl::Status AddBody(int body, const Frame& outside, const LoopNeeds& needs,
                       Steps* to);
  // Copies results that are other values' bytes to where they belong, except
  // those that are not `needed`; empty: all.
  void AddCopies(const ComputationPlan& plan, const Frame& frame, Steps* to,
                 const std::vector<bool>& needed = {});

  Slot SlotOf(const ComputationPlan& plan, const Frame& frame, ValueId value);
  Slot ConstantSlot(int computation, int instruction);
  // Takes memory after the plan's arena, until `extra_` is set back.
  Slot TakeExtra(int64_t bytes);
  int64_t Aligned(int64_t bytes) const;

  const Plan& plan_;
  RegionEmitter& emitter_;
  StepProgram program_;
  std::map<std::pair<int, int>, Slot> constants_;
  int64_t extra_ = 0, most_extra_ = 0;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_STEPS_STEP_BUILDER_H_
