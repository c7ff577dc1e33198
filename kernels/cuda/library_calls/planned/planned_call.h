// PlannedCall: a call of a library whose algorithm is chosen.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_PLANNED_CALL_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_PLANNED_CALL_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::cuda {

// Thread-safe for calls on different streams. The library outlives it.
class PlannedCall {
 public:
  virtual ~PlannedCall() = default;

  // The bytes of CallOperands::workspace, which Run may use until the stream
  // has passed it.
  virtual int64_t workspace_bytes() const = 0;
  // True if Run may wait for the device on the host.
  virtual bool may_block() const { return false; }
  // Queues the call. The caller has made the device current.
  virtual absl::Status Run(cudaStream_t stream,
                           const gpu::CallOperands& operands) const = 0;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_PLANNED_CALL_H_
