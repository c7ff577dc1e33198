#include "kernels/gpu/streams/device_heap.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {

template <typename Try>
auto DeviceHeap::WithTrim(WorkStream* held, Try attempt)
    -> decltype(attempt()) {
  auto got = attempt();
  if (!absl::IsResourceExhausted(got.status())) return got;
  Trim(held);
  return attempt();
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> DeviceHeap::Allocate(
    const std::shared_ptr<WorkStream>& work_stream, int64_t bytes) {
  HAWSER_ASSIGN_OR_RETURN(
      const DeviceAddress address, WithTrim(work_stream.get(), [&] {
        return device_->Allocate(work_stream->stream(), bytes);
      }));
  return std::make_shared<DeviceMemory>(work_stream, address, bytes);
}

absl::StatusOr<DeviceAddress> DeviceHeap::Arena(
    const std::shared_ptr<WorkStream>& work_stream, int64_t bytes) {
  return WithTrim(work_stream.get(), [&] { return work_stream->Arena(bytes); });
}

void DeviceHeap::OnShortMemory(std::function<void()> drop) {
  MutexLock lock(&mu_);
  drop_ = std::move(drop);
}

void DeviceHeap::Trim(WorkStream* held) {
  std::function<void()> drop;
  {
    MutexLock lock(&mu_);
    drop = drop_;
  }
  if (drop) drop();
  for (const std::shared_ptr<WorkStream>& work_stream : work_streams_->All()) {
    if (work_stream.get() != held && !work_stream->TryHold()) continue;
    work_stream->DropArena();
    work_stream->Sweep();
    device_->AwaitStream(work_stream->stream()).IgnoreError();
    if (work_stream.get() != held) work_stream->Release();
  }
  device_->TrimMemory().IgnoreError();
}

}  // namespace hawser::gpu
