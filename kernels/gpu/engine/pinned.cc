#include "kernels/gpu/engine/pinned.h"

#include <cstdlib>
#include <mutex>
#include <utility>

#include "core/base/log.h"
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
  for (const Slab& slab : slabs_) {
    if (slab.is_pinned) {
      device_->FreePinned(slab.memory).IgnoreError();
    } else {
      std::free(slab.memory);
    }
  }
}

absl::StatusOr<PinnedPool::Slab> PinnedPool::Allocate() {
  const int64_t bytes = chunk_bytes_ * chunks_per_slab_;
  const absl::StatusOr<void*> pinned = device_->AllocatePinned(bytes);
  if (pinned.ok()) return Slab{*pinned, true};
  if (!absl::IsResourceExhausted(pinned.status())) return pinned.status();
  static std::once_flag once;
  std::call_once(once, [&] {
    HAWSER_LOG(kWarning) << "transfers go through ordinary memory, which is "
                            "slower: "
                         << pinned.status();
  });
  void* const memory = std::malloc(static_cast<size_t>(bytes));
  if (memory == nullptr) return pinned.status();
  return Slab{memory, false};
}

void PinnedPool::Add(const Slab& slab) {
  slabs_.push_back(slab);
  for (int i = 0; i < chunks_per_slab_; ++i) {
    idle_.push_front(
        {static_cast<char*>(slab.memory) + i * chunk_bytes_, nullptr});
  }
  returned_.SignalAll();
}

absl::StatusOr<char*> PinnedPool::Take() {
  Chunk chunk;
  bool grows = false;
  {
    MutexLock lock(&mu_);
    bool is_free = !idle_.empty();
    if (is_free && idle_.front().busy != nullptr) {
      const auto done = device_->IsDone(idle_.front().busy->event());
      is_free = !done.ok() || *done;
    }
    grows = !is_free && made_ < max_chunks_;
    if (grows) made_ += chunks_per_slab_;
  }
  const absl::StatusOr<Slab> slab =
      grows ? Allocate() : absl::StatusOr<Slab>(Slab{});
  {
    MutexLock lock(&mu_);
    if (!slab.ok()) {
      made_ -= chunks_per_slab_;
      // Threads that wait for it would wait for ever.
      returned_.SignalAll();
      return slab.status();
    }
    if (grows) Add(*slab);
    returned_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return !idle_.empty() || made_ == 0;
    });
    if (idle_.empty()) {
      return ResourceExhausted("no memory for transfers of ", chunk_bytes_,
                               " bytes");
    }
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
