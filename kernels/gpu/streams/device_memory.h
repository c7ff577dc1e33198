// DeviceMemory: one allocation, shared by the values that live in it.
#ifndef HAWSER_KERNELS_GPU_STREAMS_DEVICE_MEMORY_H_
#define HAWSER_KERNELS_GPU_STREAMS_DEVICE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "kernels/gpu/device/device_types.h"
#include "kernels/gpu/streams/work_stream.h"

namespace hawser::gpu {

// Thread-safe. The memory is freed with its last holder, after every use that
// UsedOn has named.
class DeviceMemory {
 public:
  // `stream`: where it was allocated.
  DeviceMemory(std::shared_ptr<WorkStream> work_stream, DeviceAddress address,
               int64_t bytes)
      : address_(address), bytes_(bytes) {
    uses_.push_back({std::move(work_stream), nullptr});
  }
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  DeviceAddress address() const { return address_; }
  int64_t bytes() const { return bytes_; }

  // Work that `stream` had queued at `event` reads or writes the memory.
  void UsedOn(const std::shared_ptr<WorkStream>& work_stream, EventPtr event);
  // Returns the events that `stream` has to wait for before it may write here.
  std::vector<EventPtr> UsesBeside(const WorkStream* work_stream) const;

 private:
  struct Use {
    std::shared_ptr<WorkStream> work_stream;
    EventPtr event;  // null: allocated there, not used yet
  };

  const DeviceAddress address_;
  const int64_t bytes_;
  mutable Mutex mu_;
  // The last of each stream, the latest at the end.
  std::vector<Use> uses_ ABSL_GUARDED_BY(mu_);
};

// A value that is there once `ready` has passed.
struct DeviceValue {
  std::shared_ptr<DeviceMemory> memory;
  EventPtr ready;
  const WorkStream* made_on =
      nullptr;  // work on this stream need not await `ready`
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_STREAMS_DEVICE_MEMORY_H_
