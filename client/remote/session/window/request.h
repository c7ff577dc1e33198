// Request: what goes over a session and waits for an answer.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_WINDOW_REQUEST_H_
#define HAWSER_CLIENT_REMOTE_SESSION_WINDOW_REQUEST_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "core/base/threads/future.h"
#include "core/base/trace/trace.h"
#include "proto/executor.pb.h"

namespace hawser {

// A message with the memory of its parts: one allocation for a small one.
std::shared_ptr<v1::ClientMessage> NewClientMessage();

// A request on the session stream and what to do with its answer. Kept until
// it is answered, since a broken stream may ask for it again.
class Request {
 public:
  Request() : Request(NewClientMessage()) {}
  explicit Request(std::shared_ptr<v1::ClientMessage> message)
      : message(std::move(message)) {}
  virtual ~Request() = default;

  // Begins its span in the trace, once `message` is filled.
  void Sent();
  // Ends that, then calls OnReply.
  void Answer(const absl::Status& status, v1::ServerMessage* reply) {
    flight_.Land();
    OnReply(status, reply);
  }

  // Called by Answer, exactly once, with no lock held, on the thread that
  // learns it; must not block. `reply` (may be moved from) is null unless
  // `status` is OK.
  virtual void OnReply(const absl::Status& status,
                       v1::ServerMessage* reply) = 0;

  // Filled by its maker; RemoteSession adds the numbers and releases when it
  // is sent, and it does not change after that. Apart from the request,
  // so that a transport that still holds it keeps nothing else alive.
  const std::shared_ptr<v1::ClientMessage> message;

 private:
  TraceFlight flight_;
};

// A request whose answer says that it was done.
class AcknowledgedRequest : public Request {
 public:
  void OnReply(const absl::Status& status, v1::ServerMessage*) override {
    if (status.ok()) {
      promise_.Set(true);
    } else {
      promise_.Set(status);
    }
  }
  // True, or why it was not done.
  Future<bool> future() const { return promise_.future(); }

 private:
  Promise<bool> promise_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_WINDOW_REQUEST_H_
