// CancelToken: when to stop working for a caller who no longer waits.
#ifndef HAWSER_CORE_BASE_CANCEL_H_
#define HAWSER_CORE_BASE_CANCEL_H_

#include <algorithm>
#include <atomic>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser {

// A copyable handle: every copy sees the same flag. Checked per block of
// 2^20 elements, per launch and per loop turn. Deadlines are by SteadyNow.
// Thread-safe.
class CancelToken {
 public:
  CancelToken() = default;  // never cancelled, costs nothing to check
  explicit CancelToken(absl::Time deadline)
      : state_(std::make_shared<State>()) {
    state_->deadline = deadline;
  }
  static CancelToken WithFlag(absl::Time deadline = absl::InfiniteFuture()) {
    return CancelToken(deadline);
  }

  // Also expires at `deadline`; cancelling either stops whoever checks this.
  CancelToken Until(absl::Time deadline) const {
    CancelToken child(deadline);
    child.state_->parent = state_;
    return child;
  }
  // False for a default token, which need not be watched.
  bool can_expire() const { return state_ != nullptr; }

  void Cancel() const {
    if (state_ != nullptr) {
      state_->cancelled.store(true, std::memory_order_relaxed);
    }
  }
  absl::Time deadline() const {
    absl::Time earliest = absl::InfiniteFuture();
    for (const State* s = state_.get(); s != nullptr; s = s->parent.get()) {
      earliest = std::min(earliest, s->deadline);
    }
    return earliest;
  }
  // OK, kCancelled or kDeadlineExceeded.
  absl::Status Check() const {
    for (const State* s = state_.get(); s != nullptr; s = s->parent.get()) {
      if (s->cancelled.load(std::memory_order_relaxed)) {
        return Cancelled("cancelled by the caller");
      }
      if (s->deadline != absl::InfiniteFuture() &&
          SteadyNow() > s->deadline) {
        return DeadlineExceeded("the deadline has passed");
      }
    }
    return absl::OkStatus();
  }

 private:
  struct State {
    std::atomic<bool> cancelled{false};
    absl::Time deadline = absl::InfiniteFuture();
    std::shared_ptr<State> parent;
  };
  std::shared_ptr<State> state_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_CANCEL_H_
