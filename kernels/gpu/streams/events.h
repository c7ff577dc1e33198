// Events, recorded and kept for reuse.
#ifndef HAWSER_KERNELS_GPU_STREAMS_EVENTS_H_
#define HAWSER_KERNELS_GPU_STREAMS_EVENTS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::gpu {

class EventPool;

// A place on a stream. The event goes back to the pool with its last holder.
class RecordedEvent {
 public:
  RecordedEvent(std::shared_ptr<EventPool> pool, Event event)
      : pool_(std::move(pool)), event_(event) {}
  ~RecordedEvent();
  RecordedEvent(const RecordedEvent&) = delete;
  RecordedEvent& operator=(const RecordedEvent&) = delete;

  Event event() const { return event_; }

 private:
  const std::shared_ptr<EventPool> pool_;
  const Event event_;
};
using EventPtr = std::shared_ptr<const RecordedEvent>;

// Thread-safe. The pool lives as long as anything that it recorded.
class EventPool : public std::enable_shared_from_this<EventPool> {
 public:
  explicit EventPool(std::shared_ptr<Device> device)
      : device_(std::move(device)) {}
  ~EventPool();

  // Records the work that is on `stream` now. The caller orders calls on the
  // stream.
  absl::StatusOr<EventPtr> Record(Stream stream);

 private:
  friend class RecordedEvent;
  void Return(Event event);

  const std::shared_ptr<Device> device_;
  Mutex mu_;
  std::vector<Event> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_STREAMS_EVENTS_H_
