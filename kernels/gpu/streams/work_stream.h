// WorkStream: a stream that one thread at a time may queue on, and the memory
// that the stream's order makes free for reuse.
#ifndef HAWSER_KERNELS_GPU_STREAMS_WORK_STREAM_H_
#define HAWSER_KERNELS_GPU_STREAMS_WORK_STREAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/streams/events.h"

namespace hawser::gpu {

// Thread-safe. One thread at a time holds it, as by a lock, and may queue work
// on its stream. Memory that dies meanwhile is freed by the holder.
class WorkStream {
 public:
  static absl::StatusOr<std::unique_ptr<WorkStream>> Make(
      std::shared_ptr<Device> device, std::shared_ptr<EventPool> events,
      int priority);
  // Waits for the stream's work. No thread holds the stream.
  ~WorkStream();

  void Hold();
  bool TryHold();
  void Release();

  // ---- called by the holder alone ------------------------------------------
  Stream stream() const { return stream_; }
  absl::StatusOr<EventPtr> Record() { return events_->Record(stream_); }
  // Work that is queued from now on comes after `event`.
  absl::Status AwaitOn(const EventPtr& event);
  // Memory for the temporary values of what is queued next: every run on this
  // stream uses the same, one after the other. Errors: as Device::Allocate.
  absl::StatusOr<DeviceAddress> Arena(int64_t bytes);
  void DropArena();
  // Frees what has died so far.
  void Sweep();

  // ---- called by any thread, whether it holds the stream or not -------------
  // Frees `address` once the stream is past what is queued, and past `uses`.
  void FreeLater(DeviceAddress address, std::vector<EventPtr> uses);
  // `object` lives until what is queued now is done, at least.
  void KeepUntilDone(std::shared_ptr<const void> object);

 private:
  struct Garbage {
    DeviceAddress address;
    std::vector<EventPtr> uses;
  };
  struct Kept {
    std::shared_ptr<const void> object;
    EventPtr done;  // null: not recorded yet
  };

  WorkStream(std::shared_ptr<Device> device, std::shared_ptr<EventPool> events,
             Stream stream)
      : device_(std::move(device)),
        events_(std::move(events)),
        stream_(stream) {}
  void Free(const Garbage& garbage);
  void DropDone();

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<EventPool> events_;
  const Stream stream_;
  DeviceAddress arena_;  // the holder's
  int64_t arena_bytes_ = 0;

  Mutex mu_;
  CondVar released_;
  bool held_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Garbage> garbage_ ABSL_GUARDED_BY(mu_);
  std::vector<Kept> kept_ ABSL_GUARDED_BY(mu_);
};

// Holds a stream for a scope.
class LaneHold {
 public:
  explicit LaneHold(WorkStream* work_stream) : work_stream_(work_stream) {
    work_stream_->Hold();
  }
  ~LaneHold() { work_stream_->Release(); }
  LaneHold(const LaneHold&) = delete;
  LaneHold& operator=(const LaneHold&) = delete;

 private:
  WorkStream* const work_stream_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_STREAMS_WORK_STREAM_H_
