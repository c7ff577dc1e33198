// OutgoingMessages: what a session stream has still to write.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_OUTGOING_MESSAGES_H_
#define HAWSER_CLIENT_REMOTE_GRPC_OUTGOING_MESSAGES_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "google/protobuf/arena.h"
#include "proto/executor.pb.h"

namespace hawser {

// First in, first out, one write at a time. What has queued up goes out as one
// message where that is allowed: a message of its own costs gRPC some 15 us on
// both ends together, a request inside another one 1 us. Not thread-safe.
class OutgoingMessages {
 public:
  void Add(std::shared_ptr<const v1::ClientMessage> message) {
    waiting_.push_back(std::move(message));
  }
  void AllowBatches() { may_batch_ = true; }

  // No message waits to be written.
  bool empty() const { return waiting_.empty(); }
  // True if fewer than `batch` wait, which may then wait for more.
  bool MayWaitFor(size_t batch) const {
    return may_batch_ && waiting_.size() < batch;
  }
  void Clear() { waiting_.clear(); }

  // Begins the write of what waits; it is not empty. The message is good until
  // EndWrite.
  const v1::ClientMessage& BeginWrite();
  void EndWrite() { writing_.clear(); }
  bool writing() const { return !writing_.empty(); }

 private:
  std::deque<std::shared_ptr<const v1::ClientMessage>> waiting_;
  std::vector<std::shared_ptr<const v1::ClientMessage>> writing_;
  google::protobuf::Arena batch_memory_;
  bool may_batch_ = false;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_OUTGOING_MESSAGES_H_
