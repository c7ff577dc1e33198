#include "kernels/cuda/runtime/device_memory.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/status.h"

namespace hawser::cuda {
namespace {

// An empty allocation takes one byte, so that its address is unique.
size_t AtLeastOne(int64_t bytes) {
  return static_cast<size_t>(std::max<int64_t>(bytes, 1));
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceMemory>> DeviceMemory::Create(
    DeviceHealth* health, int ordinal, int64_t limit) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool = nullptr;
  HAWSER_RETURN_IF_ERROR(health->Check(cudaMemPoolCreate(&pool, &properties),
                                       "cudaMemPoolCreate"));
  OwnedPool owned(pool);
  uint64_t threshold = std::numeric_limits<uint64_t>::max();
  HAWSER_RETURN_IF_ERROR(health->Check(
      cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold,
                              &threshold),
      "cudaMemPoolSetAttribute"));
  return std::unique_ptr<DeviceMemory>(
      new DeviceMemory(health, std::move(owned), limit));
}

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, bytes] : live_) {
    cudaFree(reinterpret_cast<void*>(address));
  }
  for (void* memory : pinned_) cudaFreeHost(memory);
}

absl::StatusOr<gpu::DeviceAddress> DeviceMemory::Allocate(cudaStream_t stream,
                                                          int64_t bytes) {
  if (bytes < 0) return InvalidArgument("an allocation of ", bytes, " bytes");
  HAWSER_RETURN_IF_ERROR(Reserve(bytes));
  auto memory = AllocateReserved(stream, bytes);
  if (!memory.ok()) Release(bytes);
  return memory;
}

absl::Status DeviceMemory::Reserve(int64_t bytes) {
  MutexLock lock(&mu_);
  if (limit_ > 0 && bytes > limit_ - reserved_) {
    return ResourceExhausted("device memory: ", bytes, " bytes asked for, ",
                             limit_ - reserved_, " left of the ", limit_,
                             " that this process may take");
  }
  reserved_ += bytes;
  return absl::OkStatus();
}

void DeviceMemory::Release(int64_t bytes) {
  MutexLock lock(&mu_);
  reserved_ -= bytes;
}

absl::StatusOr<gpu::DeviceAddress> DeviceMemory::AllocateReserved(
    cudaStream_t stream, int64_t bytes) {
  void* memory = nullptr;
  const size_t size = AtLeastOne(bytes);
  cudaError_t error =
      cudaMallocFromPoolAsync(&memory, size, pool_.get(), stream);
  if (error == cudaErrorMemoryAllocation) {
    // Memory that the stream has still to free, or that the pool keeps in
    // pieces, may be enough.
    cudaGetLastError();
    HAWSER_RETURN_IF_ERROR(health_->Check(cudaStreamSynchronize(stream),
                                          "cudaStreamSynchronize"));
    HAWSER_RETURN_IF_ERROR(Trim());
    error = cudaMallocFromPoolAsync(&memory, size, pool_.get(), stream);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    const gpu::MemoryUse now = use();
    return ResourceExhausted("device memory: ", bytes, " bytes asked for, ",
                             now.free_bytes, " free, ", now.live_bytes,
                             " in use by this process");
  }
  HAWSER_RETURN_IF_ERROR(health_->Check(error, "cudaMallocFromPoolAsync"));
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  MutexLock lock(&mu_);
  live_[address] = bytes;
  use_.live_bytes += bytes;
  use_.peak_bytes = std::max(use_.peak_bytes, use_.live_bytes);
  ++use_.live_allocations;
  return gpu::DeviceAddress{address};
}

absl::Status DeviceMemory::Free(cudaStream_t stream,
                                gpu::DeviceAddress address) {
  int64_t bytes = 0;
  {
    MutexLock lock(&mu_);
    const auto found = live_.find(address.value);
    if (found == live_.end()) {
      return InvalidArgument("address ", address.value,
                             " is no allocation that is alive");
    }
    bytes = found->second;
    live_.erase(found);
  }
  // Called without the lock: a second Free of the address finds nothing.
  const absl::Status freed = health_->Peek(
      cudaFreeAsync(reinterpret_cast<void*>(address.value), stream),
      "cudaFreeAsync");
  MutexLock lock(&mu_);
  if (!freed.ok()) {
    live_[address.value] = bytes;  // the destructor frees it
    return freed;
  }
  use_.live_bytes -= bytes;
  reserved_ -= bytes;
  --use_.live_allocations;
  return absl::OkStatus();
}

absl::Status DeviceMemory::Trim() {
  return health_->Peek(cudaMemPoolTrimTo(pool_.get(), 0), "cudaMemPoolTrimTo");
}

gpu::MemoryUse DeviceMemory::use() const {
  uint64_t reserved = 0;
  size_t free_bytes = 0, total_bytes = 0;
  health_
      ->Peek(cudaMemPoolGetAttribute(
                 pool_.get(), cudaMemPoolAttrReservedMemCurrent, &reserved),
             "cudaMemPoolGetAttribute")
      .IgnoreError();
  health_->Peek(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo")
      .IgnoreError();
  MutexLock lock(&mu_);
  gpu::MemoryUse now = use_;
  now.reserved_bytes = static_cast<int64_t>(reserved);
  now.free_bytes = static_cast<int64_t>(free_bytes);
  return now;
}

absl::StatusOr<void*> DeviceMemory::AllocatePinned(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("an allocation of ", bytes, " bytes");
  void* memory = nullptr;
  const absl::Status status = health_->Check(
      cudaHostAlloc(&memory, AtLeastOne(bytes), cudaHostAllocPortable),
      "cudaHostAlloc");
  if (absl::IsResourceExhausted(status)) {
    return ResourceExhausted("pinned memory: ", bytes, " bytes asked for: ",
                             status.message());
  }
  HAWSER_RETURN_IF_ERROR(status);
  MutexLock lock(&mu_);
  pinned_.insert(memory);
  return memory;
}

absl::Status DeviceMemory::FreePinned(void* memory) {
  if (memory == nullptr) return absl::OkStatus();
  {
    MutexLock lock(&mu_);
    if (pinned_.erase(memory) == 0) {
      return InvalidArgument("memory that is no pinned allocation is freed");
    }
  }
  return health_->Check(cudaFreeHost(memory), "cudaFreeHost");
}

}  // namespace hawser::cuda
