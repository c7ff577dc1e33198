// DeviceMemory: a device's own pool of memory, pinned host memory, and counts
// of both.
#ifndef HAWSER_KERNELS_CUDA_RUNTIME_DEVICE_MEMORY_H_
#define HAWSER_KERNELS_CUDA_RUNTIME_DEVICE_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/owned.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

// The allocations of one device. Thread-safe. Callers have made the device
// current.
class DeviceMemory {
 public:
  // Makes a pool that keeps freed memory until it is trimmed. `limit`: the most
  // bytes alive at a time, beyond which Allocate returns kResourceExhausted; 0:
  // no limit.
  static absl::StatusOr<std::unique_ptr<DeviceMemory>> Create(
      DeviceHealth* health, int ordinal, int64_t limit);
  // Frees every allocation that is left, after waiting for the device.
  ~DeviceMemory();

  // These have the contracts of gpu::Device.
  absl::StatusOr<gpu::DeviceAddress> Allocate(cudaStream_t stream,
                                              int64_t bytes);
  absl::Status Free(cudaStream_t stream, gpu::DeviceAddress address);
  absl::Status Trim();
  gpu::MemoryUse use() const;
  absl::StatusOr<void*> AllocatePinned(int64_t bytes);
  absl::Status FreePinned(void* memory);

 private:
  DeviceMemory(DeviceHealth* health, OwnedPool pool, int64_t limit)
      : health_(health), pool_(std::move(pool)), limit_(limit) {}
  absl::Status Reserve(int64_t bytes);
  void Release(int64_t bytes);
  absl::StatusOr<gpu::DeviceAddress> AllocateReserved(cudaStream_t stream,
                                                      int64_t bytes);

  DeviceHealth* const health_;
  const OwnedPool pool_;
  const int64_t limit_;
  mutable Mutex mu_;
  absl::flat_hash_map<uint64_t, int64_t> live_ ABSL_GUARDED_BY(mu_);  // bytes
  absl::flat_hash_set<void*> pinned_ ABSL_GUARDED_BY(mu_);
  gpu::MemoryUse use_ ABSL_GUARDED_BY(mu_);
  // Bytes counted against the limit: alive or being allocated.
  int64_t reserved_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_RUNTIME_DEVICE_MEMORY_H_
