#include "server/service/stream/reply_queue.h"

#include <utility>

#include "server/service/execution/answers.h"

namespace hawser::server {
namespace {

// Answers in one message. A message costs gRPC some 15 us on both ends
// together, an answer inside another's 1 us; beyond these little is saved.
constexpr size_t kBatchAnswers = 64;
constexpr int64_t kBatchBytes = 256 << 10;

std::shared_ptr<const v1::ServerMessage> MessageOf(const Reply& reply) {
  if (reply.message != nullptr) {
    return std::static_pointer_cast<const v1::ServerMessage>(reply.message);
  }
  auto done = NewServerMessage();
  done->set_sequence(reply.sequence);
  return done;
}

}  // namespace

void ReplyQueue::Add(const Reply& reply) {
  bytes_ += reply.bytes;
  waiting_.push_back(reply);
}

Reply ReplyQueue::Take() {
  Reply reply = std::move(waiting_.front());
  waiting_.pop_front();
  bytes_ -= reply.bytes;
  return reply;
}

const v1::ServerMessage& ReplyQueue::Next() {
  if (!may_batch_ || waiting_.size() == 1) {
    lent_.push_back(MessageOf(Take()));
    return *lent_[0];
  }
  batch_memory_.Reset();
  auto* batch =
      google::protobuf::Arena::CreateMessage<v1::ServerMessage>(&batch_memory_);
  int64_t bytes = 0;
  do {
    const Reply reply = Take();
    bytes += reply.bytes;
    if (reply.message == nullptr) {
      batch->add_done(reply.sequence);
      continue;
    }
    lent_.push_back(MessageOf(reply));
    // Lent, not given: on an arena nothing is freed one by one.
    batch->mutable_more()->UnsafeArenaAddAllocated(
        const_cast<v1::ServerMessage*>(lent_.back().get()));
  } while (!waiting_.empty() && bytes < kBatchBytes &&
           lent_.size() < kBatchAnswers);
  return *batch;
}

ReplyQueue::Messages ReplyQueue::Written() { return std::exchange(lent_, {}); }

}  // namespace hawser::server
