// ChunkMemory: where chunks and arrays lie, counted while they are held.
#ifndef HAWSER_SERVER_DATASETS_STORAGE_CHUNK_MEMORY_H_
#define HAWSER_SERVER_DATASETS_STORAGE_CHUNK_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"

namespace hawser::server {

// Thread-safe; what it hands out may outlive it.
class ChunkMemory {
 public:
  // Memory that is handed out is charged to `holder`, unless Allocate names
  // another; null: to nothing.
  explicit ChunkMemory(MemoryHolderPtr holder = nullptr) {
    state_->holder = std::move(holder);
  }

  // Contents undefined, 64-byte aligned; from 2 MiB on as large_memory.h has
  // it. Errors: kResourceExhausted when there is no memory, or the holder may
  // not have it.
  absl::StatusOr<std::shared_ptr<char>> Allocate(
      int64_t bytes, const MemoryHolderPtr& holder = nullptr,
      MemoryUse use = MemoryUse::kDataset);

  // Takes and touches this much now, for chunks to come, and keeps up to as
  // much of what is given back: a virtual machine may get memory from its host
  // at a fifth of the speed of its network (measured: 0.4 GB/s). Errors:
  // kResourceExhausted.
  absl::Status Prepare(int64_t bytes);

  // Bytes handed out and not yet dead.
  int64_t resident() const { return state_->resident; }

 private:
  struct State {
    ~State();
    std::atomic<int64_t> resident{0};
    Mutex mu;
    MemoryHolderPtr holder;  // of `blocks`; null: they are not charged
    struct Spare {
      char* memory;
      MemoryCharge charge;
    };
    std::vector<Spare> blocks ABSL_GUARDED_BY(mu);  // touched, of a chunk each
    size_t most_blocks ABSL_GUARDED_BY(mu) = 0;
  };
  struct Block;
  static char* Take(State& state);
  static void Give(State& state, char* block);

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_STORAGE_CHUNK_MEMORY_H_
