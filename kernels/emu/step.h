// Step: one thing a stream or a graph does, as data.
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
struct GemmStep {
  std::shared_ptr<const gpu::GemmSpec> spec;
  gpu::GemmOperands operands;
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
using Step = std::variant<LaunchStep, GemmStep, CopyStep, FillStep>;

// What a step is run with.
struct StepContext {
  const DeviceMemory* memory;
  const gpu::DeviceFacts* facts;
  std::vector<Schedule> schedules;  // of every launch, in turn
  uint64_t seed;
};

// What can be said before it runs. Errors: kInvalidArgument.
absl::Status CheckStep(const Step& step, const gpu::DeviceFacts& facts);

// Errors: kInternal, for what the engine or a kernel did wrong.
absl::Status RunStep(const Step& step, const StepContext& context);

// Whether `b` is `a` over other addresses and numbers.
bool IsSameWork(const Step& a, const Step& b);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_STEP_H_
