#include "client/remote/grpc/outgoing_messages.h"

namespace hawser {
namespace {

// Requests in one message. Beyond these a batch saves next to nothing, and
// the answer to its first request waits for the last to be sent.
constexpr size_t kBatchRequests = 64;
constexpr size_t kBatchBytes = 256 << 10;

}  // namespace

const v1::ClientMessage& OutgoingMessages::BeginWrite() {
  size_t bytes = 0;
  do {
    bytes += waiting_.front()->ByteSizeLong();
    writing_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  } while (may_batch_ && !waiting_.empty() && bytes < kBatchBytes &&
           writing_.size() < kBatchRequests);
  if (writing_.size() == 1) return *writing_[0];
  // Lent, not given: on an arena nothing is freed one by one.
  batch_memory_.Reset();
  auto* batch =
      google::protobuf::Arena::CreateMessage<v1::ClientMessage>(&batch_memory_);
  for (const auto& message : writing_) {
    batch->mutable_more()->UnsafeArenaAddAllocated(
        const_cast<v1::ClientMessage*>(message.get()));
  }
  return *batch;
}

}  // namespace hawser
