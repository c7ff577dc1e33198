// SessionLink: one session stream, whatever transport carries it.
#ifndef HAWSER_SERVER_SERVICE_STREAM_SESSION_LINK_H_
#define HAWSER_SERVER_SERVICE_STREAM_SESSION_LINK_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "google/protobuf/arena.h"
#include "proto/executor.pb.h"
#include "server/service/execution/execution.h"
#include "server/service/execution/executor.h"
#include "server/service/stream/reply_queue.h"
#include "server/session/session.h"

namespace hawser::server {

// A SessionLink needs this of its transport. At most one Read and one Write are
// under way. Called with the link's lock held: must not call back inside.
class SessionWire {
 public:
  virtual ~SessionWire() = default;
  // Then OnMessage once `into` is filled, or OnHalfClose, or OnBroken.
  virtual void Read(v1::ClientMessage* into) = 0;
  // Then OnWritten once, unless the stream is over.
  virtual void Write(const v1::ServerMessage& message) = 0;
  // Ends the stream; the last call the wire gets.
  virtual void Finish(const absl::Status& status) = 0;
  // The address of the other end, for the log; "": it has none.
  virtual std::string peer() const { return ""; }
};

// Opens or reattaches the session, keeps requests in order and both directions
// within bounds; decodes nothing and knows no handles. Several requests may
// come in one message, and answers that wait for the wire, or were made by
// requests of one message, leave in one. `request_` belongs to the wire from a
// Read to its OnMessage, then to the request that has its turn. Thread-safe.
class SessionLink final : public ReplyStream,
                          public std::enable_shared_from_this<SessionLink> {
 public:
  // `executor` and `wire` outlive the stream, that is until OnDone.
  SessionLink(Executor* executor, std::string tenant, SessionWire* wire);

  // ---- called by the wire
  void Start();
  void OnMessage();
  void OnWritten();
  // The client will send no more: it is answered what it asked, and then the
  // session ends.
  void OnHalfClose();
  // The link is gone; the session waits for its lease. May come at any time.
  void OnBroken();
  // After Finish, when the wire is through. `delivered`: the client got the
  // status, so the link did not break under it.
  void OnDone(bool delivered);

  // ---- called by the session
  std::string peer() const override { return wire_->peer(); }
  void Send(const Reply& reply) override;
  void Settled() override;
  void Close(const absl::Status& why) override;

 private:
  // The message being applied, with the memory of its parts.
  struct Request {
    Request();
    alignas(8) char block[1024];
    google::protobuf::Arena arena;
    v1::ClientMessage* message = nullptr;
    GivenBack given_back;  // by a message of several
    int applied = 0;       // of its requests
    // The next one begins after these: the end of this one, and of the call
    // that began it.
    std::atomic<int> left{0};

    int size() const { return std::max(message->more_size(), 1); }
    v1::ClientMessage* at(int i) {
      return message->more().empty() ? message : message->mutable_more(i);
    }
  };
  void ReadLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FinishLocked(const absl::Status& status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReadNext();
  void Open(const v1::OpenRequest& request);
  void SendStatus(const absl::Status& status, bool session_lost);
  Reply Hello(const Session& session, uint64_t applied) const;
  void Attach(const std::shared_ptr<Session>& session);
  void Apply(const std::shared_ptr<Session>& session);
  bool ApplyNext(const std::shared_ptr<Session>& session);
  void HoldAnswers(bool hold);
  void WriteLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Executor* const executor_;
  const std::string tenant_;
  SessionWire* const wire_;
  Request request_;
  // Guarded as request_. The client was told that its session is lost: requests
  // are dropped until the next OpenRequest.
  bool lost_ = false;

  Mutex mu_;
  std::shared_ptr<Session> session_ ABSL_GUARDED_BY(mu_);
  bool paused_ ABSL_GUARDED_BY(mu_) = false;  // no Read is under way
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool holding_ ABSL_GUARDED_BY(mu_) = false;  // more answers will come at once
  bool writing_ ABSL_GUARDED_BY(mu_) = false;  // a Write is under way
  ReplyQueue replies_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_STREAM_SESSION_LINK_H_
