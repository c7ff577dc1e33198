#include "server/datasets/chunk_receiver.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {

ChunkReceiver::ChunkReceiver(DatasetStore* store, ChunkClaim claim,
                             std::shared_ptr<char> data)
    : store_(store), claim_(std::move(claim)), data_(std::move(data)) {}

void ChunkReceiver::Advance(int64_t n) {
  HAWSER_CHECK(n >= 0 && n <= missing());
  // While the bytes are still in the cache.
  hasher_.Bytes({at(), static_cast<size_t>(n)});
  received_ += n;
}

absl::Status ChunkReceiver::Finish() {
  if (missing() > 0) {
    return DataLoss("chunk ", digest().ToHex(), " ends ", missing(),
                    " bytes too early");
  }
  const Digest actual = hasher_.Finish();
  if (actual != digest()) {
    return DataLoss("chunk ", digest().ToHex(),
                    " does not match its bytes, whose digest is ",
                    actual.ToHex());
  }
  return store_->Receive(claim_, std::move(data_));
}

}  // namespace hawser::server
