// DeviceMemory: allocations of the emulated device, and when they may be used.
#ifndef HAWSER_KERNELS_EMU_DEVICE_MEMORY_H_
#define HAWSER_KERNELS_EMU_DEVICE_MEMORY_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

// An allocation is reserved when Allocate is called, may be used from the place
// on its stream where the stream allocates it, and must not be used from the
// place where the stream frees it. Fresh memory is poison: NaN as a float, -1
// as an integer. Thread-safe.
class DeviceMemory {
 public:
  explicit DeviceMemory(int64_t total_bytes);
  ~DeviceMemory();

  // ---- at the call --------------------------------------------------------
  // Errors: kResourceExhausted with the bytes asked for and those free.
  absl::StatusOr<gpu::DeviceAddress> Reserve(int64_t bytes);
  // Errors: kInvalidArgument for an address that is no allocation or was freed.
  absl::Status Retire(gpu::DeviceAddress address);
  gpu::MemoryUse use() const;

  // ---- on the stream ------------------------------------------------------
  void Open(gpu::DeviceAddress address);
  // Errors: kInternal when it is called before Open: an event is missing.
  absl::Status Release(gpu::DeviceAddress address);
  // Checks that [address, address + bytes) may be used now. Errors: kInternal
  // beginning with `who`.
  absl::Status Check(absl::string_view who, gpu::DeviceAddress address,
                     int64_t bytes) const;

  // ---- pinned memory of the host ------------------------------------------
  absl::StatusOr<void*> AllocatePinned(int64_t bytes);
  absl::Status FreePinned(void* memory);

 private:
  struct Block {
    int64_t bytes = 0;
    bool is_open = false;     // the stream has allocated it
    bool is_retired = false;  // Free was called
    void* memory = nullptr;
  };

  const int64_t total_bytes_;
  mutable Mutex mu_;
  std::map<uint64_t, Block> blocks_ ABSL_GUARDED_BY(mu_);
  std::set<void*> pinned_ ABSL_GUARDED_BY(mu_);
  // Released blocks. Their addresses are reused late, so that a late use is not
  // taken for one by the next owner.
  std::deque<Block> quarantine_ ABSL_GUARDED_BY(mu_);
  int64_t quarantined_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t held_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // reserved, not released
  gpu::MemoryUse use_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_DEVICE_MEMORY_H_
