// Program: a plan as a list of steps over memory, ready to be queued.
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
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/gpu/device/device_types.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"
#include "kernels/plan/plan.h"

namespace hawser::gpu {

// Memory by what it is part of: number `base` among a run's addresses.
struct Slot {
  static constexpr int kArena = 0;
  static constexpr int kConstants = 1;
  static constexpr int kFirstArgument = 2;  // then the other arguments, results

  int base = kArena;
  int64_t offset = 0;
  int64_t bytes = 0;

  bool operator==(const Slot&) const = default;
};

struct Step;
using Steps = std::vector<Step>;

struct LaunchStep {
  int kernel = 0;  // of Program::kernels
  LaunchShape shape;
  std::vector<std::pair<Slot, Access>> parameters;
};
struct GemmStep {
  int product = 0;  // of Program::products
  Slot a, b, d;
  std::optional<Slot> c, bias;
};
// Nothing when both are the same memory.
struct CopyStep {
  Slot to, from;
};
// Run by the host's evaluator.
struct HostStep {
  int call = 0;  // of Program::calls
  absl::InlinedVector<Slot, 3> operands, results;
};
// Copies states to `state` first; `body` leaves them there. Condition and body
// read them.
struct LoopStep {
  // Known: the condition is not run. Else it leaves a bool at `predicate`.
  std::optional<int64_t> trips;
  Steps condition;
  Slot predicate;
  Steps body;
};
struct CaseStep {
  Slot index;  // s32; out of range: the last branch
  std::vector<Steps> branches;
};
struct Step {
  std::variant<LaunchStep, GemmStep, CopyStep, HostStep, LoopStep, CaseStep>
      work;
};

// An instruction that no kernel runs, as a module of its own.
struct HostCall {
  std::string name;  // "%12 sort"
  Module module;
};

// Where a result of a run is.
struct ResultMemory {
  enum Kind : uint8_t { kOwn, kArgument, kResult };
  Kind kind = kOwn;
  int index = -1;  // of the argument or result whose memory it is
};

struct Program {
  Signature signature;
  Steps steps;
  std::vector<EmittedKernel> kernels;  // each text once
  std::vector<GemmSpec> products;
  std::vector<HostCall> calls;
  std::string constants;  // what stands at Slot::kConstants
  int64_t arena_bytes = 0;
  // Where the workspace of products begins, behind the arena's own bytes.
  int64_t workspace_offset = 0;
  std::vector<ResultMemory> results;
  std::vector<plan::Donation> donations;
  // Whether a run must wait for the device: host steps, data-dependent loops.
  bool blocks = false;
  // Things one run queues, where that is known beforehand.
  int64_t queued_steps = 0;
  double seconds = 0;  // of one run, by the planner's costs; loops of unknown
                       // length turn once
  std::string explanation;

  int first_result() const {
    return Slot::kFirstArgument + static_cast<int>(signature.parameters.size());
  }
  int num_bases() const {
    return first_result() + static_cast<int>(signature.results.size());
  }
};

// In kStrict the order of every sum is that of a device of so many
// multiprocessors, whichever it runs on.
inline constexpr int kStrictMultiprocessors = 132;

struct ProgramOptions {
  runtime::Numerics numerics = runtime::Numerics::kFast;
  int multiprocessors = 1;
  // Whether regions without a kernel may run on the host. Without: such a
  // module is kUnimplemented, naming the instruction.
  bool has_host = false;
  // Plans a product with the device's library, as the next of
  // Program::products. kUnimplemented: kernels do it. Null: always.
  std::function<absl::Status(const GemmSpec&)> plan_product;
};

absl::StatusOr<Program> MakeProgram(const plan::Plan& plan,
                                    const ProgramOptions& options);

// Loops of so many queued steps, and more, wait for the device now and then.
inline constexpr int64_t kMaxQueuedSteps = 1 << 14;

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_PROGRAM_H_
