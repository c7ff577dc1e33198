#include "kernels/gpu/streams/work_streams.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {

absl::StatusOr<std::shared_ptr<WorkStreams>> WorkStreams::Make(
    std::shared_ptr<Device> device) {
  std::shared_ptr<WorkStreams> work_streams(new WorkStreams(std::move(device)));
  HAWSER_ASSIGN_OR_RETURN(work_streams->main_, work_streams->Add(0));
  HAWSER_ASSIGN_OR_RETURN(work_streams->uploads_, work_streams->Add(1));
  return work_streams;
}

absl::StatusOr<std::shared_ptr<WorkStream>> WorkStreams::Add(int priority) {
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<WorkStream> work_stream,
                          WorkStream::Make(device_, events_, priority));
  MutexLock lock(&mu_);
  all_.push_back(work_stream);
  return work_stream;
}

absl::StatusOr<std::shared_ptr<WorkStream>> WorkStreams::Take() {
  {
    MutexLock lock(&mu_);
    if (!idle_.empty()) {
      std::shared_ptr<WorkStream> work_stream = std::move(idle_.back());
      idle_.pop_back();
      return work_stream;
    }
  }
  return Add(0);
}

void WorkStreams::Return(std::shared_ptr<WorkStream> work_stream) {
  MutexLock lock(&mu_);
  idle_.push_back(std::move(work_stream));
}

std::vector<std::shared_ptr<WorkStream>> WorkStreams::All() {
  MutexLock lock(&mu_);
  return all_;
}

}  // namespace hawser::gpu
