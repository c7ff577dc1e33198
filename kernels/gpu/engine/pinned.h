// PinnedPool: host memory that copies overlap with other work, in chunks. If
// the driver has none left, ordinary memory does, by slower copies.
#ifndef HAWSER_KERNELS_GPU_ENGINE_PINNED_H_
#define HAWSER_KERNELS_GPU_ENGINE_PINNED_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/streams/events.h"

namespace hawser::gpu {

// Thread-safe.
class PinnedPool {
 public:
  // Chunks of `chunk_bytes`, at most `chunks`, allocated in slabs of
  // `chunks_per_slab` when they are first needed.
  PinnedPool(std::shared_ptr<Device> device, int64_t chunk_bytes, int chunks,
             int chunks_per_slab);
  // Every chunk must have been returned.
  ~PinnedPool();

  int64_t chunk_bytes() const { return chunk_bytes_; }
  // Blocks while all are in use: take one at a time. Errors: as the device's,
  // but for memory: kResourceExhausted where there is not even ordinary memory.
  absl::StatusOr<char*> Take();
  // The chunk is taken again only once `busy` has passed; null: at any time.
  void Return(char* chunk, EventPtr busy);

 private:
  struct Chunk {
    char* memory;
    EventPtr busy;
  };
  struct Slab {
    void* memory;
    bool is_pinned;
  };
  // Allocates one slab. Called without the lock: the driver takes milliseconds.
  absl::StatusOr<Slab> Allocate();
  void Add(const Slab& slab) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Device> device_;
  const int64_t chunk_bytes_;
  const int max_chunks_;
  const int chunks_per_slab_;
  Mutex mu_;
  CondVar returned_;
  int made_ ABSL_GUARDED_BY(mu_) = 0;            // or being made
  std::deque<Chunk> idle_ ABSL_GUARDED_BY(mu_);  // the longest idle first
  std::vector<Slab> slabs_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_ENGINE_PINNED_H_
