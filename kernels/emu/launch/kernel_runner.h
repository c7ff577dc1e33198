// Runs one launch, every block and thread of it, and checks the rules.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_KERNEL_RUNNER_H_
#define HAWSER_KERNELS_EMU_LAUNCH_KERNEL_RUNNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/emu/launch/host_compiler.h"
#include "kernels/emu/launch/schedule.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

// A kernel of a loaded module.
struct HostKernel {
  std::string name;
  std::shared_ptr<const HostModule> module;
  hk::HostKernelInfo info;
};

// Checks counts, sizes and uses of the arguments against the kernel's text, and
// the limits of `facts`. Errors: kInvalidArgument naming the kernel.
absl::Status CheckLaunch(const HostKernel& kernel,
                         const gpu::LaunchShape& shape,
                         absl::Span<const gpu::KernelArgument> arguments,
                         const gpu::DeviceFacts& facts);

// Runs a checked launch once for each of `schedules`, each time from the same
// memory; all must have the same results. Memory is written only when all went
// well. Errors: kInternal naming kernel, line, block and thread.
absl::Status RunLaunch(const HostKernel& kernel, const gpu::LaunchShape& shape,
                       absl::Span<const gpu::KernelArgument> arguments,
                       absl::Span<const Schedule> schedules, uint64_t seed,
                       const gpu::DeviceFacts& facts);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_KERNEL_RUNNER_H_
