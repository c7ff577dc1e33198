// SessionKey: the name under which a server knows a session.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_SESSION_KEY_H_
#define HAWSER_CLIENT_REMOTE_SESSION_SESSION_KEY_H_

#include <cstdint>
#include <string>

#include "proto/executor.pb.h"

namespace hawser {

// The server makes the id and the secret, and the first reply that opens the
// session sets them. Every later reply, on whatever stream, has the same id.
// Not thread-safe.
class SessionKey {
 public:
  // False: the reply is of another session, or of none.
  bool Accept(const v1::OpenReply& reply) {
    if (reply.session_id() == 0) return false;
    if (id_ != 0 && id_ != reply.session_id()) return false;
    id_ = reply.session_id();
    secret_ = reply.secret();
    return true;
  }

  // Before the first Accept this asks for a new session.
  template <typename Message>
  void WriteTo(Message* message) const {
    message->set_session_id(id_);
    message->set_secret(secret_);
  }

 private:
  uint64_t id_ = 0;  // 0: not open yet
  std::string secret_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_SESSION_KEY_H_
