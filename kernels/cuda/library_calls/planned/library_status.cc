#include "kernels/cuda/library_calls/planned/library_status.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::cuda {

absl::Status AfterFailure(absl::Status status, cudaStream_t stream,
                          absl::string_view call, DeviceHealth* health) {
  const cudaError_t error = cudaStreamQuery(stream);
  if (IsFatal(error)) return health->Check(error, call);
  cudaGetLastError();
  return status;
}

absl::Status AsRefusal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kUnavailable:
      return status;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kFailedPrecondition:
      return FailedPrecondition(status.message());
    default:
      return Unimplemented(status.message());
  }
}

absl::Status CopyBefore(cudaStream_t stream, gpu::DeviceAddress to,
                        gpu::DeviceAddress from, int64_t bytes,
                        DeviceHealth* health) {
  if (to == from) return absl::OkStatus();
  return health->Check(
      cudaMemcpyAsync(Pointer(to), Pointer(from), static_cast<size_t>(bytes),
                      cudaMemcpyDeviceToDevice, stream),
      "cudaMemcpyAsync");
}

absl::Status PutPointers(cudaStream_t stream, gpu::DeviceAddress to,
                         gpu::DeviceAddress first, int64_t stride,
                         int64_t count, DeviceHealth* health) {
  std::vector<uint64_t> pointers(count);
  for (int64_t k = 0; k < count; ++k) pointers[k] = (first + k * stride).value;
  // The call keeps a copy of memory that is not pinned.
  return health->Check(cudaMemcpyAsync(Pointer(to), pointers.data(),
                                       pointers.size() * sizeof(pointers[0]),
                                       cudaMemcpyHostToDevice, stream),
                       "cudaMemcpyAsync");
}

}  // namespace hawser::cuda
