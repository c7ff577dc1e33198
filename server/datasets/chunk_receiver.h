// ChunkReceiver: one chunk on its way in, hashed as it comes and visible only
// once it is what it claims to be.
#ifndef HAWSER_SERVER_DATASETS_CHUNK_RECEIVER_H_
#define HAWSER_SERVER_DATASETS_CHUNK_RECEIVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "core/base/digest.h"
#include "server/datasets/dataset_store.h"

namespace hawser::server {

// Not thread-safe. Dies without a trace unless Finish was OK.
class ChunkReceiver {
 public:
  const Digest& digest() const { return claim_.digest; }
  int64_t size() const { return claim_.size; }
  int64_t missing() const { return claim_.size - received_; }
  // Where the next bytes go, at most missing() of them.
  char* at() { return data_.get() + received_; }
  // `n` bytes have been written at at().
  void Advance(int64_t n);
  // Errors (kDataLoss): the bytes are not those of the digest, or not all.
  absl::Status Finish();

 private:
  friend class DatasetStore;
  ChunkReceiver(DatasetStore* store, ChunkClaim claim,
                std::shared_ptr<char> data);

  DatasetStore* const store_;
  const ChunkClaim claim_;
  std::shared_ptr<char> data_;  // the final place
  int64_t received_ = 0;
  Hasher hasher_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_CHUNK_RECEIVER_H_
