// Uploads: chunks on their way in, each in the place where it will stay.
#ifndef HAWSER_SERVER_DATASETS_UPLOADS_H_
#define HAWSER_SERVER_DATASETS_UPLOADS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/digest.h"
#include "core/base/memory_account.h"
#include "server/datasets/durability.h"
#include "server/datasets/retention.h"
#include "server/datasets/store_state.h"

namespace hawser::server {

class Uploads;

// The claims of a chunk on its way in: what it is, and for which upload.
struct ChunkClaim {
  std::string tenant;
  uint64_t upload = 0;
  Digest digest;
  int64_t size = 0;
};

// One chunk on its way in, hashed as it comes and visible only once it is what
// it claims to be. Not thread-safe. Dies without a trace unless Finish was OK.
class ChunkReceiver {
 public:
  // `data`, of the claim's size, is where the chunk will stay. Made by
  // Uploads, which outlives it. `index` is for what will be known of it.
  ChunkReceiver(Uploads* uploads, ChunkClaim claim, std::shared_ptr<char> data,
                MemoryCharge index);

  const Digest& digest() const { return claim_.digest; }
  int64_t size() const { return claim_.size; }
  int64_t missing() const { return claim_.size - received_; }
  // The next bytes go here, at most missing() of them.
  char* at() { return data_.get() + received_; }
  // `n` bytes have been written at at().
  void Advance(int64_t n);
  // Errors (kDataLoss): the bytes are not those of the digest, or not all.
  absl::Status Finish();

 private:
  Uploads* const uploads_;
  const ChunkClaim claim_;
  std::shared_ptr<char> data_;
  const MemoryCharge index_;
  int64_t received_ = 0;
  Hasher hasher_;
};

// A chunk waits for memory only while the writer may still make some, so that
// what waits is served whenever the writer has ended a batch. Thread-safe:
// methods are called without the store's lock.
class Uploads {
 public:
  using ReceiverReady =
      std::function<void(absl::StatusOr<std::unique_ptr<ChunkReceiver>>)>;

  Uploads(StoreState* state, Durability* durability, Retention* retention)
      : state_(*state), durability_(durability), retention_(retention) {}

  // Called, without locks, when datasets were evicted for a chunk's room.
  // Before anything else is called.
  void OnEvicted(std::function<void()> let_go) { let_go_ = std::move(let_go); }

  // The same as DatasetStore::BeginChunk.
  void Begin(ChunkClaim claim, ReceiverReady ready);
  // Tries the waiting chunks again. Called by the writer, after each batch.
  void ServeWaiting();
  // Tells the waiting chunks' callers that the server is stopping.
  void Stop();
  // A chunk has come and is what it claims to be. Errors: kResourceExhausted.
  absl::Status Receive(const ChunkClaim& claim,
                       std::shared_ptr<const char> data);

 private:
  struct Waiting {
    ChunkClaim claim;
    ReceiverReady ready;
  };
  absl::StatusOr<std::unique_ptr<ChunkReceiver>> Reserve(
      const ChunkClaim& claim);
  absl::Status NoMemory();

  StoreState& state_;
  Durability* const durability_ ABSL_PT_GUARDED_BY(state_.mu);
  Retention* const retention_ ABSL_PT_GUARDED_BY(state_.mu);
  std::function<void()> let_go_;
  std::deque<Waiting> waiting_ ABSL_GUARDED_BY(state_.mu);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_UPLOADS_H_
