#include "kernels/emu/device_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/base/status.h"
#include "kernels/emu/launch/checked_memory.h"

namespace hawser::emu {
namespace {

constexpr int64_t kAlignment = 256;
constexpr int64_t kQuarantineBytes = int64_t{64} << 20;

int64_t Rounded(int64_t bytes) {
  return std::max(kAlignment,
                  (bytes + kAlignment - 1) / kAlignment * kAlignment);
}

}  // namespace

DeviceMemory::DeviceMemory(int64_t total_bytes) : total_bytes_(total_bytes) {}

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, block] : blocks_) std::free(block.memory);
  for (const Block& block : quarantine_) std::free(block.memory);
  for (void* memory : pinned_) std::free(memory);
}

absl::StatusOr<gpu::DeviceAddress> DeviceMemory::Reserve(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("an allocation of ", bytes, " bytes");
  MutexLock lock(&mu_);
  const int64_t free_bytes = total_bytes_ - held_bytes_;
  void* memory = nullptr;
  if (bytes <= free_bytes && Rounded(bytes) <= free_bytes) {
    memory = std::aligned_alloc(kAlignment, Rounded(bytes));
  }
  if (memory == nullptr) {
    return ResourceExhausted("device memory: ", bytes, " bytes asked for, ",
                             free_bytes, " of ", total_bytes_, " free");
  }
  std::memset(memory, kPoison, Rounded(bytes));
  const uint64_t address = reinterpret_cast<uint64_t>(memory);
  blocks_[address] = {.bytes = bytes, .memory = memory};
  held_bytes_ += Rounded(bytes);
  use_.live_bytes += bytes;
  use_.peak_bytes = std::max(use_.peak_bytes, use_.live_bytes);
  ++use_.live_allocations;
  return gpu::DeviceAddress{address};
}

absl::Status DeviceMemory::Retire(gpu::DeviceAddress address) {
  MutexLock lock(&mu_);
  const auto found = blocks_.find(address.value);
  if (found == blocks_.end() || found->second.is_retired) {
    return InvalidArgument("address ", address.value,
                           " is no allocation that is alive");
  }
  found->second.is_retired = true;
  use_.live_bytes -= found->second.bytes;
  --use_.live_allocations;
  return absl::OkStatus();
}

gpu::MemoryUse DeviceMemory::use() const {
  MutexLock lock(&mu_);
  gpu::MemoryUse use = use_;
  use.reserved_bytes = held_bytes_;
  use.free_bytes = total_bytes_ - held_bytes_;
  return use;
}

void DeviceMemory::Open(gpu::DeviceAddress address) {
  MutexLock lock(&mu_);
  blocks_[address.value].is_open = true;
}

absl::Status DeviceMemory::Release(gpu::DeviceAddress address) {
  MutexLock lock(&mu_);
  const auto found = blocks_.find(address.value);
  if (!found->second.is_open) {
    return Internal("free: memory of ", found->second.bytes,
                    " bytes, before its stream allocates it");
  }
  held_bytes_ -= Rounded(found->second.bytes);
  quarantine_.push_back(found->second);
  quarantined_bytes_ += Rounded(found->second.bytes);
  blocks_.erase(found);
  while (quarantined_bytes_ > kQuarantineBytes) {
    quarantined_bytes_ -= Rounded(quarantine_.front().bytes);
    std::free(quarantine_.front().memory);
    quarantine_.pop_front();
  }
  return absl::OkStatus();
}

absl::Status DeviceMemory::Check(absl::string_view who,
                                 gpu::DeviceAddress address,
                                 int64_t bytes) const {
  if (bytes == 0) return absl::OkStatus();
  MutexLock lock(&mu_);
  auto found = blocks_.upper_bound(address.value);
  if (found != blocks_.begin()) {
    --found;
    const Block& block = found->second;
    const uint64_t offset = address.value - found->first;
    if (offset + bytes <= static_cast<uint64_t>(block.bytes)) {
      if (block.is_open) return absl::OkStatus();
      return Internal(who, ": uses memory before its stream allocates it");
    }
    if (offset < static_cast<uint64_t>(block.bytes)) {
      return Internal(who, ": uses bytes ", offset, " to ", offset + bytes,
                      " of an allocation of ", block.bytes);
    }
  }
  return Internal(who, ": uses ", bytes,
                  " bytes that are not allocated, or no "
                  "longer");
}

absl::StatusOr<void*> DeviceMemory::AllocatePinned(int64_t bytes) {
  if (bytes < 0) return InvalidArgument("an allocation of ", bytes, " bytes");
  void* memory = std::aligned_alloc(kAlignment, Rounded(bytes));
  if (memory == nullptr) {
    return ResourceExhausted("pinned memory: ", bytes, " bytes asked for");
  }
  MutexLock lock(&mu_);
  pinned_.insert(memory);
  return memory;
}

absl::Status DeviceMemory::FreePinned(void* memory) {
  MutexLock lock(&mu_);
  if (memory == nullptr) return absl::OkStatus();
  if (pinned_.erase(memory) == 0) {
    return InvalidArgument("not pinned memory of this device");
  }
  std::free(memory);
  return absl::OkStatus();
}

}  // namespace hawser::emu
