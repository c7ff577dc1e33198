#include "server/session/request_turns.h"

#include <utility>

namespace hawser::server {

void RequestTurns::Enter(std::function<void()> apply) {
  {
    MutexLock lock(&mu_);
    if (busy_) {
      waiting_.push_back(std::move(apply));
      return;
    }
    busy_ = true;
    left_ = false;
  }
  apply();
}

void RequestTurns::Leave() {
  {
    MutexLock lock(&mu_);
    left_ = true;
    if (passing_on_) return;  // the thread in the loop below goes on
    passing_on_ = true;
  }
  while (true) {
    std::function<void()> next;
    {
      MutexLock lock(&mu_);
      if (!left_ || waiting_.empty()) {
        busy_ = !left_;
        passing_on_ = false;
        return;
      }
      left_ = false;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next();
  }
}

}  // namespace hawser::server
