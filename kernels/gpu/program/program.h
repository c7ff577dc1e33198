// Program: a plan as steps over memory with their work, ready to be queued.
#ifndef HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_H_
#define HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/gpu/device/device_types.h"
#include "kernels/gpu/device/library_call.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/steps/steps.h"

namespace hawser::gpu {

// The work of this engine's steps (plan::WorkStep).
struct LaunchStep {
  int kernel = 0;  // of Program::kernels
  LaunchShape shape;
  std::vector<std::pair<plan::Slot, Access>> parameters;
  int64_t work_streams = 0;  // elementary operations of its region
};
// A call of the device's library.
struct LibraryStep {
  int call = 0;  // of Program::library_calls
  absl::InlinedVector<plan::Slot, 4> operands;
  absl::InlinedVector<plan::Slot, 3> results;
  int64_t work_streams = 0;  // of all calls for its region
};
// The host's evaluator runs it.
struct HostStep {
  int call = 0;  // of Program::calls
  absl::InlinedVector<plan::Slot, 3> operands, results;
};
using Work = std::variant<LaunchStep, LibraryStep, HostStep>;

// An instruction that no kernel runs, as a module of its own.
struct HostCall {
  std::string name;  // "%12 sort"
  Module module;
};

struct Program : plan::StepProgram {
  std::vector<Work> works;             // by WorkStep::work
  std::vector<EmittedKernel> kernels;  // each text once
  std::vector<LibraryCall> library_calls;
  std::vector<HostCall> calls;
  // The offset of the workspace of library calls, after the arena's own bytes.
  int64_t workspace_offset = 0;
  // True if a run must wait for the device: host steps, library calls that may
  // block, data-dependent loops.
  bool blocks = false;
  // Things one run queues, where that is known beforehand.
  int64_t queued_steps = 0;
  // of one run, by the planner's costs; loops of unknown length run once
  double seconds = 0;
};

// In kStrict the order of every sum is that of a device of so many
// multiprocessors, whichever it runs on.
inline constexpr int kStrictMultiprocessors = 132;

struct ProgramOptions {
  runtime::Numerics numerics = runtime::Numerics::kFast;
  int multiprocessors = 1;
  bool matrix_units = false;  // as in EmitOptions
  // True if regions without a kernel may run on the host. If false, such a
  // module is kUnimplemented, naming the instruction.
  bool has_host = false;
  // Plans a call with the device's library, as the next of
  // Program::library_calls. kUnimplemented: kernels do it. Null: always.
  std::function<absl::Status(const LibraryCall&)> plan_call;
};

absl::StatusOr<Program> MakeProgram(const plan::Plan& plan,
                                    const ProgramOptions& options);

// Loops of so many queued steps, and more, wait for the device now and then.
inline constexpr int64_t kMaxQueuedSteps = 1 << 14;

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_H_
