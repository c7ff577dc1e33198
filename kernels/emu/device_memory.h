// DeviceMemory: what is allocated on the emulated device, and who has freed it.
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

// Thread-safe. Memory has three moments on its stream: it is reserved at the
// call, may be used from where the stream allocates it, and no more from where
// the stream frees it. Fresh memory is poison: NaN, and -1.
class DeviceMemory {
 public:
  explicit DeviceMemory(int64_t total_bytes);
  ~DeviceMemory();

  // ---- at the call --------------------------------------------------------
  // Errors: kResourceExhausted with what was asked for and what is free.
  absl::StatusOr<gpu::DeviceAddress> Reserve(int64_t bytes);
  // Errors: kInvalidArgument for what is no allocation, or freed already.
  absl::Status Retire(gpu::DeviceAddress address);
  gpu::MemoryUse use() const;

  // ---- on the stream ------------------------------------------------------
  void Open(gpu::DeviceAddress address);
  // Errors: kInternal when it comes before Open, for want of an event.
  absl::Status Release(gpu::DeviceAddress address);
  // Whether [address, address + bytes) may be used now. Errors: kInternal
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
  // Released not long ago: their addresses must not come back at once, or a
  // late use would look like one of the next owner's.
  std::deque<Block> quarantine_ ABSL_GUARDED_BY(mu_);
  int64_t quarantined_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t held_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // reserved, not released
  gpu::MemoryUse use_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_DEVICE_MEMORY_H_
