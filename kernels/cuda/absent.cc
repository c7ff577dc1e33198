// The device in a build without the toolkit: there is none.
#include "core/base/status.h"
#include "kernels/cuda/cuda_device.h"

namespace hawser::cuda {
namespace {

constexpr absl::string_view kAbsent = "this build of hawser has no CUDA";

}  // namespace

absl::StatusOr<int> CudaDeviceCount() { return Unavailable(kAbsent); }

absl::StatusOr<std::unique_ptr<gpu::Device>> MakeCudaDevice(
    int ordinal, const CudaOptions& options) {
  return Unavailable(kAbsent);
}

}  // namespace hawser::cuda
