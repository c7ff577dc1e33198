#include "kernels/gpu/streams/events.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {

RecordedEvent::~RecordedEvent() { pool_->Return(event_); }

EventPool::~EventPool() {
  for (const Event event : idle_) device_->DestroyEvent(event).IgnoreError();
}

absl::StatusOr<EventPtr> EventPool::Record(Stream stream) {
  Event event;
  {
    MutexLock lock(&mu_);
    if (!idle_.empty()) {
      event = idle_.back();
      idle_.pop_back();
    }
  }
  if (!event) {
    HAWSER_ASSIGN_OR_RETURN(event, device_->CreateEvent());
  }
  auto recorded =
      std::make_shared<const RecordedEvent>(shared_from_this(), event);
  HAWSER_RETURN_IF_ERROR(device_->RecordEvent(stream, event));
  return recorded;
}

void EventPool::Return(Event event) {
  MutexLock lock(&mu_);
  idle_.push_back(event);
}

}  // namespace hawser::gpu
