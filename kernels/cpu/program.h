// CpuProgram: a module made ready to run: its kernels found, the last use of
// every value known, its cost estimated. Made once per executable.
#ifndef HAWSER_KERNELS_CPU_PROGRAM_H_
#define HAWSER_KERNELS_CPU_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/lane_program.h"

namespace hawser::cpu {

// Immutable and thread-safe; runs may overlap.
class CpuProgram {
 public:
  // `module` must be verified and outlive the program; computations behind
  // `entry` are left out. Errors: kUnimplemented naming an op without a row.
  static absl::StatusOr<CpuProgram> Make(const Module& module, int entry);

  // About how many steps one run takes; infinite with a loop.
  double cost() const { return computations_.back().cost.steps; }
  // The same of one instruction, which is no parameter.
  double CostOf(int computation, int instruction) const;
  // Returns the form that the row of one instruction made; null: the row has none.
  const KernelForm* FormOf(int computation, int instruction) const;

  // Arguments must have the parameters' shapes. An argument without another
  // holder may be written over. Values are freed at their last use.
  // Errors: what the kernels say, naming the instruction; kResourceExhausted;
  // what the environment's token says, as it is.
  absl::StatusOr<std::vector<Literal>> Run(
      std::vector<Literal> arguments, const Environment& environment) const;
  // One instruction, which is no parameter, of a computation. Results may be in
  // the memory of `given`, values of their shapes, or of operands without
  // another holder; `use` is the kernel's. Errors: what the kernel says.
  absl::StatusOr<Literals> RunInstruction(int computation, int instruction,
                                          absl::Span<Literal> operands,
                                          absl::Span<Literal> given,
                                          const ValueUse& use,
                                          const Environment& environment) const;

 private:
  friend class Evaluation;
  struct Step {
    const CpuKernel* kernel;
    const Instruction* instruction;
    int first_use;  // into `last_uses`, one entry per operand
    double cost;
    absl::InlinedVector<const LaneProgram*, 1> lanes;  // of what it calls
    std::unique_ptr<const KernelForm> form;
  };
  struct Prepared {
    const Computation* computation;
    std::optional<LaneProgram> lanes;
    std::vector<Step> steps;         // without parameters
    std::vector<int> step_of;        // per instruction; -1: a parameter
    std::vector<bool> last_uses;     // the value dies with this use
    std::vector<bool> used;          // per value
    std::vector<bool> last_results;  // per result: the value may move out
    CalledCost cost;
  };

  static absl::StatusOr<Prepared> Prepare(const Module& module,
                                          const Computation& computation,
                                          const std::vector<Prepared>& before);

  const Module* module_ = nullptr;
  std::vector<Prepared> computations_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PROGRAM_H_
