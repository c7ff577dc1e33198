#include "kernels/gpu/streams/work_stream.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {
namespace {

// Arenas grow in steps of this, so that a few sizes serve many executables.
constexpr int64_t kArenaStep = int64_t{64} << 10;

}  // namespace

absl::StatusOr<std::unique_ptr<WorkStream>> WorkStream::Make(
    std::shared_ptr<Device> device, std::shared_ptr<EventPool> events,
    int priority) {
  HAWSER_ASSIGN_OR_RETURN(const Stream stream, device->CreateStream(priority));
  return std::unique_ptr<WorkStream>(
      new WorkStream(std::move(device), std::move(events), stream));
}

WorkStream::~WorkStream() {
  DropArena();
  Sweep();
  device_->DestroyStream(stream_).IgnoreError();
  // Objects that were kept for the stream's work go after it, with kept_.
}

void WorkStream::Hold() {
  {
    MutexLock lock(&mu_);
    released_.Wait(
        &mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !held_; });
    held_ = true;
  }
  Sweep();
}

bool WorkStream::TryHold() {
  {
    MutexLock lock(&mu_);
    if (held_) return false;
    held_ = true;
  }
  Sweep();
  return true;
}

void WorkStream::Release() {
  while (true) {
    {
      MutexLock lock(&mu_);
      if (garbage_.empty()) {
        held_ = false;
        released_.Signal();
        return;
      }
    }
    Sweep();
  }
}

absl::Status WorkStream::AwaitOn(const EventPtr& event) {
  return device_->AwaitEventOn(stream_, event->event());
}

absl::StatusOr<DeviceAddress> WorkStream::Arena(int64_t bytes) {
  if (bytes <= arena_bytes_) return arena_;
  DropArena();
  const int64_t rounded = (bytes + kArenaStep - 1) / kArenaStep * kArenaStep;
  absl::StatusOr<DeviceAddress> grown = device_->Allocate(stream_, rounded);
  const bool exact = absl::IsResourceExhausted(grown.status());
  if (exact) grown = device_->Allocate(stream_, bytes);
  HAWSER_RETURN_IF_ERROR(grown);
  arena_ = *grown;
  arena_bytes_ = exact ? bytes : rounded;
  return arena_;
}

void WorkStream::DropArena() {
  device_->Free(stream_, arena_).IgnoreError();
  arena_ = {};
  arena_bytes_ = 0;
}

void WorkStream::Free(const Garbage& garbage) {
  for (const EventPtr& use : garbage.uses) {
    if (AwaitOn(use).ok()) continue;
    device_->AwaitEvent(use->event()).IgnoreError();
  }
  device_->Free(stream_, garbage.address).IgnoreError();
}

void WorkStream::Sweep() {
  std::vector<Garbage> due;
  {
    MutexLock lock(&mu_);
    due.swap(garbage_);
  }
  for (const Garbage& garbage : due) Free(garbage);
  DropDone();
}

void WorkStream::DropDone() {
  std::vector<Kept> kept, done;
  {
    MutexLock lock(&mu_);
    kept.swap(kept_);
  }
  for (Kept& k : kept) {
    if (k.done != nullptr) {
      const auto is_done = device_->IsDone(k.done->event());
      // If the device is lost, nothing is in use any more.
      if (is_done.ok() ? *is_done : !device_->Health().ok()) {
        done.push_back(std::move(k));
      }
    } else if (auto event = Record(); event.ok()) {
      k.done = *std::move(event);
    }
  }
  kept.erase(std::remove_if(kept.begin(), kept.end(),
                            [](const Kept& k) { return k.object == nullptr; }),
             kept.end());
  {
    MutexLock lock(&mu_);
    kept_.insert(kept_.end(), std::make_move_iterator(kept.begin()),
                 std::make_move_iterator(kept.end()));
  }
}

void WorkStream::FreeLater(DeviceAddress address, std::vector<EventPtr> uses) {
  if (!address) return;
  {
    MutexLock lock(&mu_);
    garbage_.push_back({address, std::move(uses)});
    if (held_) return;  // its holder sweeps
    held_ = true;
  }
  Release();
}

void WorkStream::KeepUntilDone(std::shared_ptr<const void> object) {
  MutexLock lock(&mu_);
  kept_.push_back({std::move(object), nullptr});
}

}  // namespace hawser::gpu
