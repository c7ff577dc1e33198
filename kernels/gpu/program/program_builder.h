// ProgramBuilder: from a plan's regions to steps, computation by computation.
#ifndef HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_BUILDER_H_
#define HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/program/gemm_lowering.h"
#include "kernels/gpu/program/program.h"

namespace hawser::gpu {

// What a computation's own places are in the memory of the run.
struct Frame {
  std::vector<Slot> arguments;
  std::vector<Slot> results;
  int64_t arena = 0;  // where its arena begins
};

class ProgramBuilder {
 public:
  ProgramBuilder(const plan::Plan& plan, const ProgramOptions& options)
      : plan_(plan), options_(options) {}

  absl::StatusOr<Program> Build();

 private:
  // One instruction, where it stands.
  struct Site {
    const plan::ComputationPlan& plan;
    const Computation& computation;
    const plan::Region& region;
    const Instruction& instruction;
    const Frame& frame;
  };

  // Steps of a computation; afterwards every result that is no alias is in
  // its place.
  absl::Status AddComputation(int computation, const Frame& frame, Steps* to);
  absl::Status AddInstruction(const Site& site, Steps* to);
  absl::Status AddKernels(const Site& site, Steps* to);
  absl::Status AddProduct(const Site& site, Steps* to);
  void AddCalls(const Site& site, const Product& product, Steps* to);
  absl::Status AddUpdate(const Site& site, Steps* to);
  absl::Status AddHost(const Site& site, Steps* to);
  absl::Status AddControl(const Site& site, Steps* to);
  absl::Status AddWhile(const Site& site, Steps* to);
  absl::Status AddCase(const Site& site, Steps* to);
  // A turn of a loop over `state` in place.
  absl::Status AddBody(int body, const Frame& outside, int64_t arena,
                       Steps* to);
  void AddCopies(const plan::ComputationPlan& plan, const Frame& frame,
                 Steps* to);
  void AddCopy(const Slot& to, const Slot& from, Steps* steps);
  void Note(const Site& site, absl::string_view what);

  Slot SlotOf(const plan::ComputationPlan& plan, const Frame& frame,
              ValueId value);
  Slot ConstantSlot(int computation, int instruction);
  Slot ResultSlot(const Site& site, int result) {
    return SlotOf(site.plan, site.frame,
                  site.instruction.first_result + result);
  }
  Slot OperandSlot(const Site& site, int operand) {
    return SlotOf(site.plan, site.frame, site.instruction.operands[operand]);
  }
  int64_t CalleeArena(const Site& site) const;
  // Memory behind the plan's arena, until `extra_` is set back.
  Slot TakeExtra(int64_t bytes);
  int KernelNumber(EmittedKernel kernel);
  void DescribeResults();

  const plan::Plan& plan_;
  const ProgramOptions& options_;
  Program program_;
  std::map<std::string, int> kernels_;  // by name
  std::map<std::pair<int, int>, Slot> constants_;
  int64_t extra_ = 0, most_extra_ = 0;
};

// Steps that one run of `steps` queues, loops of unknown length once.
int64_t CountQueued(const Steps& steps);
// Whether some step has to wait for the device.
bool MustBlock(const Steps& steps);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_BUILDER_H_
