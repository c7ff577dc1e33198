// WorkStreams: the streams of one device, each with its memory.
#ifndef HAWSER_KERNELS_GPU_STREAMS_WORK_STREAMS_H_
#define HAWSER_KERNELS_GPU_STREAMS_WORK_STREAMS_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/gpu/streams/work_stream.h"

namespace hawser::gpu {

// Thread-safe. Invariant: a stream is the main one, that of uploads, idle, or
// taken by one caller. Streams are made when they are needed and kept.
class WorkStreams {
 public:
  static absl::StatusOr<std::shared_ptr<WorkStreams>> Make(
      std::shared_ptr<Device> device);

  // Runs that never wait for the host are queued here, in order.
  const std::shared_ptr<WorkStream>& main() const { return main_; }
  // Values travel to the device here.
  const std::shared_ptr<WorkStream>& uploads() const { return uploads_; }

  // A stream that is the caller's alone until it is returned.
  absl::StatusOr<std::shared_ptr<WorkStream>> Take();
  void Return(std::shared_ptr<WorkStream> work_stream);

  std::vector<std::shared_ptr<WorkStream>> All();

 private:
  explicit WorkStreams(std::shared_ptr<Device> device)
      : device_(std::move(device)),
        events_(std::make_shared<EventPool>(device_)) {}
  absl::StatusOr<std::shared_ptr<WorkStream>> Add(int priority);

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<EventPool> events_;
  std::shared_ptr<WorkStream> main_, uploads_;
  Mutex mu_;
  std::vector<std::shared_ptr<WorkStream>> all_ ABSL_GUARDED_BY(mu_);
  std::vector<std::shared_ptr<WorkStream>> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_STREAMS_WORK_STREAMS_H_
