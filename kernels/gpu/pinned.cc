#include "kernels/gpu/pinned.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {

PinnedPool::PinnedPool(std::shared_ptr<Device> device, int64_t chunk_bytes,
                       int chunks, int chunks_per_slab)
    : device_(std::move(device)),
      chunk_bytes_(chunk_bytes),
      max_chunks_(chunks),
      chunks_per_slab_(chunks_per_slab) {}

PinnedPool::~PinnedPool() {
  for (const Chunk& chunk : idle_) {
    if (chunk.busy != nullptr) {
      device_->AwaitEvent(chunk.busy->event()).IgnoreError();
    }
  }
  for (void* slab : slabs_) device_->FreePinned(slab).IgnoreError();
}

absl::Status PinnedPool::Grow() {
  HAWSER_ASSIGN_OR_RETURN(
      void* slab, device_->AllocatePinned(chunk_bytes_ * chunks_per_slab_));
  slabs_.push_back(slab);
  for (int i = 0; i < chunks_per_slab_; ++i) {
    idle_.push_front({static_cast<char*>(slab) + i * chunk_bytes_, nullptr});
  }
  made_ += chunks_per_slab_;
  return absl::OkStatus();
}

absl::StatusOr<char*> PinnedPool::Take() {
  Chunk chunk;
  {
    MutexLock lock(&mu_);
    bool is_free = !idle_.empty();
    if (is_free && idle_.front().busy != nullptr) {
      const auto done = device_->IsDone(idle_.front().busy->event());
      is_free = !done.ok() || *done;
    }
    if (!is_free && made_ < max_chunks_) HAWSER_RETURN_IF_ERROR(Grow());
    returned_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return !idle_.empty();
    });
    chunk = std::move(idle_.front());
    idle_.pop_front();
  }
  if (chunk.busy == nullptr) return chunk.memory;
  const absl::Status passed = device_->AwaitEvent(chunk.busy->event());
  if (passed.ok()) return chunk.memory;
  Return(chunk.memory, nullptr);
  return passed;
}

void PinnedPool::Return(char* chunk, EventPtr busy) {
  MutexLock lock(&mu_);
  idle_.push_back({chunk, std::move(busy)});
  returned_.Signal();
}

}  // namespace hawser::gpu
