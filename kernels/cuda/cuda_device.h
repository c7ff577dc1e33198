// An NVIDIA GPU as a gpu::Device, over the CUDA runtime. This header names
// nothing of CUDA. A build without the toolkit has no such device.
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
  // The places in which NVRTC, cuBLASLt, cuFFT, cuSOLVER and cuBLAS are looked
  // for. The device exists without them; calls that need a missing library
  // return kFailedPrecondition.
  LibraryPlaces libraries = LibraryPlaces::FromEnvironment();
  // The most device memory that values may take at a time; 0: all there is.
  int64_t memory_limit = 0;
  // When a thread waits for the device and no stream of it makes progress for
  // this long, the device counts as lost. A single kernel that takes longer,
  // with no other work beside it, has the same effect.
  absl::Duration patience = absl::Minutes(2);
};

// The number of devices this process may use, at least one. Errors:
// kUnavailable with the text of the driver, or because this build has no CUDA.
absl::StatusOr<int> CudaDeviceCount();

// Makes device `ordinal`, one of CudaDeviceCount(). Errors: kUnavailable.
absl::StatusOr<std::unique_ptr<gpu::Device>> MakeCudaDevice(
    int ordinal, const CudaOptions& options = {});

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_CUDA_DEVICE_H_
