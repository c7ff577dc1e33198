// ReplyStream and Attachment: where a session's answers go.
#ifndef HAWSER_SERVER_SESSION_REPLY_STREAM_H_
#define HAWSER_SERVER_SESSION_REPLY_STREAM_H_

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/session/request_ledger.h"

namespace hawser::server {

// A session's answers go here while a client is connected.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // Queues; never blocks, never calls back into the session.
  virtual void Send(const Reply& reply) = 0;
  // Called when a request was answered: it may be time to read on, or to end.
  virtual void Settled() = 0;
  // Ends the stream; nothing is sent any more. Never calls back.
  virtual void Close(const absl::Status& why) = 0;
  // The address of its other end, for the log; "": it has none.
  virtual std::string peer() const { return ""; }
};

// The stream a session has, and since when its lease runs: not while a client
// is attached, unless the client has said goodbye. Not thread-safe; its owner
// lets the streams that it returns die outside its lock.
class Attachment {
 public:
  // Returns the stream before.
  std::shared_ptr<ReplyStream> Attach(std::shared_ptr<ReplyStream> stream) {
    detached_at_ = absl::InfiniteFuture();
    peer_ = stream->peer();
    return std::exchange(stream_, std::move(stream));
  }
  // Returns `stream`, from which the lease runs; null: another took over.
  std::shared_ptr<ReplyStream> Detach(const ReplyStream* stream,
                                      absl::Time now) {
    if (stream_.get() != stream) return nullptr;
    detached_at_ = now;
    return std::exchange(stream_, nullptr);
  }
  // The lease runs, though the stream is still there for the last answers.
  void Retire(absl::Time now) { detached_at_ = std::min(detached_at_, now); }
  // The end of the session. Returns its stream.
  std::shared_ptr<ReplyStream> End() { return std::exchange(stream_, nullptr); }

  const std::shared_ptr<ReplyStream>& stream() const { return stream_; }
  // The address of the last stream's other end.
  const std::string& peer() const { return peer_; }
  // Infinite future: a client can send.
  absl::Time detached_at() const { return detached_at_; }

 private:
  std::shared_ptr<ReplyStream> stream_;
  std::string peer_;
  absl::Time detached_at_ = absl::InfiniteFuture();
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_REPLY_STREAM_H_
