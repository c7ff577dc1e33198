// ReplyQueue: a session's answers on their way to the wire.
#ifndef HAWSER_SERVER_SERVICE_STREAM_REPLY_QUEUE_H_
#define HAWSER_SERVER_SERVICE_STREAM_REPLY_QUEUE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "google/protobuf/arena.h"
#include "proto/executor.pb.h"
#include "server/session/session.h"

namespace hawser::server {

// Answers leave in order, several in one message where the client takes that.
// `lent_` are the messages of those that Next has handed out, which its result
// may point to, until Written. Not thread-safe.
class ReplyQueue {
 public:
  using Messages = std::vector<std::shared_ptr<const v1::ServerMessage>>;

  bool may_batch() const { return may_batch_; }
  void set_may_batch(bool may) { may_batch_ = may; }

  void Add(const Reply& reply);
  bool empty() const { return waiting_.empty(); }
  int64_t bytes() const { return bytes_; }  // of answers that wait
  // A message with the next answers, of which there is one at least; valid
  // until Written, which comes before the next call.
  const v1::ServerMessage& Next();
  // Returns what was lent, to die without a lock.
  Messages Written();
  void Clear() {
    waiting_.clear();
    bytes_ = 0;
  }

 private:
  Reply Take();

  bool may_batch_ = false;
  std::deque<Reply> waiting_;
  int64_t bytes_ = 0;
  Messages lent_;
  google::protobuf::Arena batch_memory_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_STREAM_REPLY_QUEUE_H_
