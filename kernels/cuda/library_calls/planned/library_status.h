// What the libraries of this folder share: errors behind a failed call, and
// copies in front of a call that works in place.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_LIBRARY_STATUS_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_LIBRARY_STATUS_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/gpu/device/device_types.h"

namespace hawser::cuda {

inline void* Pointer(gpu::DeviceAddress address) {
  return reinterpret_cast<void*>(address.value);
}

// An address for calls that look at the alignment of an address alone.
inline void* AnyPointer() { return reinterpret_cast<void*>(uintptr_t{256}); }

// The status of a run that failed with `status`, unless the device is lost: the
// library has a CUDA runtime of its own, so this one holds no error of it.
absl::Status AfterFailure(absl::Status status, cudaStream_t stream,
                          absl::string_view call, DeviceHealth* health);

// The status of a plan that failed, so that the engine computes it otherwise:
// kUnimplemented for sizes the library refuses and for want of memory, since
// the spec has been checked before; kFailedPrecondition for a library that does
// not work, which is a warning. A lost device stays kUnavailable.
absl::Status AsRefusal(const absl::Status& status);

// Copies on the device, for results that are computed in place of an operand.
absl::Status CopyBefore(cudaStream_t stream, gpu::DeviceAddress to,
                        gpu::DeviceAddress from, int64_t bytes,
                        DeviceHealth* health);

// Puts the addresses of `count` matrices, `stride` bytes apart, at `to` on the
// device. Not for captures: the copy reads memory of the host.
absl::Status PutPointers(cudaStream_t stream, gpu::DeviceAddress to,
                         gpu::DeviceAddress first, int64_t stride,
                         int64_t count, DeviceHealth* health);

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_LIBRARY_STATUS_H_
