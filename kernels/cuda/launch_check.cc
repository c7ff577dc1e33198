#include "kernels/cuda/launch_check.h"

#include "core/base/status.h"

namespace hawser::cuda {
namespace {

constexpr uint32_t kWarp = 32;

template <typename... Args>
absl::Status Refuse(const KernelInfo& kernel, const Args&... args) {
  return InvalidArgument("kernel ", kernel.name, args...);
}

absl::Status CheckArguments(const KernelInfo& kernel,
                            absl::Span<const gpu::KernelArgument> arguments) {
  if (!kernel.parameters.has_value()) return absl::OkStatus();
  const std::vector<int64_t>& parameters = *kernel.parameters;
  if (arguments.size() != parameters.size()) {
    return Refuse(kernel, " has ", parameters.size(), " parameters, not ",
                  arguments.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].value_bytes() != parameters[i]) {
      return Refuse(kernel, ": parameter ", i, " has ", parameters[i],
                    " bytes, its argument ", arguments[i].value_bytes());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLaunch(const KernelInfo& kernel,
                         const gpu::LaunchShape& shape,
                         absl::Span<const gpu::KernelArgument> arguments,
                         const gpu::DeviceFacts& facts) {
  HAWSER_RETURN_IF_ERROR(CheckArguments(kernel, arguments));
  if (shape.threads == 0 || shape.threads % kWarp != 0 ||
      shape.threads > static_cast<uint32_t>(facts.max_threads_per_block)) {
    return Refuse(kernel, ": ", shape.threads,
                  " threads a block, not a multiple of 32 up to ",
                  facts.max_threads_per_block);
  }
  if (shape.threads > static_cast<uint32_t>(kernel.max_threads)) {
    return Refuse(kernel, ": ", shape.threads,
                  " threads a block, its bounds are ", kernel.max_threads);
  }
  const int64_t grid[] = {shape.grid.x, shape.grid.y, shape.grid.z};
  for (int i = 0; i < 3; ++i) {
    if (grid[i] > facts.max_grid[i]) {
      return Refuse(kernel, ": ", grid[i], " blocks along axis ", i,
                    ", at most ", facts.max_grid[i]);
    }
  }
  const int64_t most =
      facts.max_shared_bytes_per_block - kernel.static_shared_bytes;
  if (shape.dynamic_shared_bytes < 0 || shape.dynamic_shared_bytes > most) {
    return Refuse(kernel, ": ", shape.dynamic_shared_bytes,
                  " bytes of shared memory, at most ", most);
  }
  return absl::OkStatus();
}

}  // namespace hawser::cuda
