#include "kernels/gpu/lanes/device_heap.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {

template <typename Try>
auto DeviceHeap::WithTrim(Lane* held, Try attempt) -> decltype(attempt()) {
  auto got = attempt();
  if (!absl::IsResourceExhausted(got.status())) return got;
  Trim(held);
  return attempt();
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> DeviceHeap::Allocate(
    const std::shared_ptr<Lane>& lane, int64_t bytes) {
  HAWSER_ASSIGN_OR_RETURN(const DeviceAddress address,
                          WithTrim(lane.get(), [&] {
                            return device_->Allocate(lane->stream(), bytes);
                          }));
  return std::make_shared<DeviceMemory>(lane, address, bytes);
}

absl::StatusOr<DeviceAddress> DeviceHeap::Arena(
    const std::shared_ptr<Lane>& lane, int64_t bytes) {
  return WithTrim(lane.get(), [&] { return lane->Arena(bytes); });
}

void DeviceHeap::OnShortMemory(std::function<void()> drop) {
  MutexLock lock(&mu_);
  drop_ = std::move(drop);
}

void DeviceHeap::Trim(Lane* held) {
  std::function<void()> drop;
  {
    MutexLock lock(&mu_);
    drop = drop_;
  }
  if (drop) drop();
  for (const std::shared_ptr<Lane>& lane : lanes_->All()) {
    if (lane.get() != held && !lane->TryHold()) continue;
    lane->DropArena();
    lane->Sweep();
    device_->AwaitStream(lane->stream()).IgnoreError();
    if (lane.get() != held) lane->Release();
  }
  device_->TrimMemory().IgnoreError();
}

}  // namespace hawser::gpu
