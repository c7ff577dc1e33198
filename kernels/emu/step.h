// Step: one operation of a stream or a graph, as data.
#ifndef HAWSER_KERNELS_EMU_STEP_H_
#define HAWSER_KERNELS_EMU_STEP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/emu/device_memory.h"
#include "kernels/emu/launch/kernel_runner.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

struct LaunchStep {
  std::shared_ptr<const HostKernel> kernel;
  gpu::LaunchShape shape;
  std::vector<gpu::KernelArgument> arguments;
};
struct CallStep {
  std::shared_ptr<const gpu::LibraryCall> call;
  gpu::CallOperands operands;
};
enum class CopyKind : uint8_t { kToDevice, kToHost, kOnDevice };
struct CopyStep {
  CopyKind kind;
  uint64_t to, from;
  int64_t bytes;
};
struct FillStep {
  gpu::DeviceAddress to;
  uint8_t value;
  int64_t bytes;
};
using Step = std::variant<LaunchStep, CallStep, CopyStep, FillStep>;

// The memory, facts and schedules that steps need to run.
struct StepContext {
  const DeviceMemory* memory;
  const gpu::DeviceFacts* facts;
  std::vector<Schedule> schedules;  // each launch runs in each of them
  uint64_t seed;
};

// Checks a step before it is queued. Errors: kInvalidArgument.
absl::Status CheckStep(const Step& step, const gpu::DeviceFacts& facts);

// Runs a step. Errors: kInternal for a mistake of the engine or of a kernel.
absl::Status RunStep(const Step& step, const StepContext& context);

// True if both steps are the same but for addresses and numbers.
bool IsSameWork(const Step& a, const Step& b);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_STEP_H_
