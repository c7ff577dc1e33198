#include "kernels/gpu/streams/device_memory.h"

#include <algorithm>

namespace hawser::gpu {

// Freed where it was used last: to wait there for the others holds up least.
// The stream that allocates it is among those.
DeviceMemory::~DeviceMemory() {
  const std::shared_ptr<WorkStream> last = uses_.back().work_stream;
  last->FreeLater(address_, UsesBeside(last.get()));
}

void DeviceMemory::UsedOn(const std::shared_ptr<WorkStream>& work_stream,
                          EventPtr event) {
  MutexLock lock(&mu_);
  const auto at = std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) {
    return use.work_stream == work_stream;
  });
  if (at != uses_.end()) uses_.erase(at);
  uses_.push_back({work_stream, std::move(event)});
}

std::vector<EventPtr> DeviceMemory::UsesBeside(
    const WorkStream* work_stream) const {
  MutexLock lock(&mu_);
  std::vector<EventPtr> events;
  for (const Use& use : uses_) {
    if (use.work_stream.get() != work_stream && use.event != nullptr) {
      events.push_back(use.event);
    }
  }
  return events;
}

}  // namespace hawser::gpu
