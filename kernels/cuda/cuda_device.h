// A device that is an NVIDIA GPU, over the CUDA runtime. Names nothing of
// CUDA's, and links without a toolkit too: then there is no device.
#ifndef HAWSER_KERNELS_CUDA_CUDA_DEVICE_H_
#define HAWSER_KERNELS_CUDA_CUDA_DEVICE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "kernels/cuda/runtime/library.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

struct CudaOptions {
  // Where NVRTC and cuBLASLt are looked for. Without one of them the device
  // exists, and what needs it is kFailedPrecondition.
  LibraryPlaces libraries = LibraryPlaces::FromEnvironment();
  // The most device memory that values may take at a time; 0: what there is.
  int64_t memory_limit = 0;
  // A device that gets nothing done for so long, on any stream, while a thread
  // waits for it, is given up as lost. A kernel that takes longer is mistaken
  // for that when nothing else runs.
  absl::Duration patience = absl::Minutes(2);
};

// How many devices this process may use, at least one. Errors: kUnavailable
// with the driver's words, or because this build has no CUDA.
absl::StatusOr<int> CudaDeviceCount();

// Device `ordinal` of CudaDeviceCount(). Errors: kUnavailable.
absl::StatusOr<std::unique_ptr<gpu::Device>> MakeCudaDevice(
    int ordinal, const CudaOptions& options = {});

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_CUDA_DEVICE_H_
