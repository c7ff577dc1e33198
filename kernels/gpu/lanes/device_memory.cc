#include "kernels/gpu/lanes/device_memory.h"

#include <algorithm>

namespace hawser::gpu {

// Freed where it was used last: to wait there for the others holds up least.
// The stream that allocates it is among those.
DeviceMemory::~DeviceMemory() {
  const std::shared_ptr<Lane> last = uses_.back().lane;
  last->FreeLater(address_, UsesBeside(last.get()));
}

void DeviceMemory::UsedOn(const std::shared_ptr<Lane>& lane, EventPtr event) {
  MutexLock lock(&mu_);
  const auto at = std::find_if(uses_.begin(), uses_.end(), [&](const Use& use) {
    return use.lane == lane;
  });
  if (at != uses_.end()) uses_.erase(at);
  uses_.push_back({lane, std::move(event)});
}

std::vector<EventPtr> DeviceMemory::UsesBeside(const Lane* lane) const {
  MutexLock lock(&mu_);
  std::vector<EventPtr> events;
  for (const Use& use : uses_) {
    if (use.lane.get() != lane && use.event != nullptr) {
      events.push_back(use.event);
    }
  }
  return events;
}

}  // namespace hawser::gpu
