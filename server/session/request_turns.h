// RequestTurns: the requests of a session, one at a time.
#ifndef HAWSER_SERVER_SESSION_REQUEST_TURNS_H_
#define HAWSER_SERVER_SESSION_REQUEST_TURNS_H_

#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "core/base/mutex.h"

namespace hawser::server {

// At most one has the turn (`busy_`): between its Enter, or being taken from
// `waiting_`, and the Leave that follows. The others get theirs in order, from
// the one thread that is in Leave's loop (`passing_on_`), so that the stack
// does not grow with them. Thread-safe.
class RequestTurns {
 public:
  // Calls `apply` at once, or once the one before it has called Leave.
  void Enter(std::function<void()> apply);
  // Called from within `apply`, or later and on any thread.
  void Leave();

 private:
  Mutex mu_;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool left_ ABSL_GUARDED_BY(mu_) = false;  // by the one that had the turn last
  bool passing_on_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<std::function<void()>> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_REQUEST_TURNS_H_
