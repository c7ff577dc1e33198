// AcknowledgedRequest: a request whose answer says that it was done.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_ACKNOWLEDGED_H_
#define HAWSER_CLIENT_REMOTE_SESSION_ACKNOWLEDGED_H_

#include "client/remote/session/session.h"
#include "core/base/threads/future.h"

namespace hawser {

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
#endif  // HAWSER_CLIENT_REMOTE_SESSION_ACKNOWLEDGED_H_
