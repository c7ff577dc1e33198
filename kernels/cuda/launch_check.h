// Checks of a launch before the device sees it.
#ifndef HAWSER_KERNELS_CUDA_LAUNCH_CHECK_H_
#define HAWSER_KERNELS_CUDA_LAUNCH_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

// The limits of a loaded kernel.
struct KernelInfo {
  std::string name;
  // Bytes of each parameter; absent where the driver cannot report them.
  std::optional<std::vector<int64_t>> parameters;
  int max_threads = 0;  // by its bounds and its registers
  int64_t static_shared_bytes = 0;
};

// Checks sizes, counts and limits; addresses are not checked. Errors:
// kInvalidArgument naming the kernel, the value and the limit.
absl::Status CheckLaunch(const KernelInfo& kernel,
                         const gpu::LaunchShape& shape,
                         absl::Span<const gpu::KernelArgument> arguments,
                         const gpu::DeviceFacts& facts);

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LAUNCH_CHECK_H_
