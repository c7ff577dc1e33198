// CancelToken: when to stop working for a caller who no longer waits.
#ifndef HAWSER_CORE_BASE_THREADS_CANCEL_H_
#define HAWSER_CORE_BASE_THREADS_CANCEL_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace hawser {

// A copyable handle: every copy sees the same flag. Work checks it per block of
// 2^20 elements, per launch and per loop iteration; what waits is told
// (OnExpiry). Deadlines are by SteadyNow. Thread-safe.
class CancelToken {
 public:
  class Registration;

  CancelToken() = default;  // never expires, costs nothing to check
  explicit CancelToken(absl::Time deadline);
  static CancelToken WithFlag(absl::Time deadline = absl::InfiniteFuture()) {
    return CancelToken(deadline);
  }

  // The copy also expires at `deadline`, saying `why` then; cancelling either
  // stops what checks this. `why` is a literal.
  CancelToken Until(absl::Time deadline,
                    const char* why = "the deadline has passed") const;
  // False for a default token, which need not be watched.
  bool can_expire() const { return state_ != nullptr; }

  void Cancel() const;
  absl::Time deadline() const;
  // OK, kCancelled or kDeadlineExceeded: "the deadline has passed after 2s",
  // counted from when the token was made, in whole milliseconds. If
  // several tokens expired, the first that this was made of says it.
  absl::Status Check() const;

  // Calls `expired` once with what Check says, when this expires, which may
  // have been before. Always on the process's alarm (Alarm::OfProcess), never
  // inside OnExpiry or Cancel: the caller may hold any lock. `expired` must not
  // block. It holds as long as the registration lives; a default token gives
  // none.
  [[nodiscard]] Registration OnExpiry(
      std::function<void(const absl::Status&)> expired) const;

 private:
  struct Call;
  struct State;
  std::shared_ptr<State> state_;
};

// Movable. While it is destroyed the function is not called any more; a call
// under way on another thread is waited for.
class CancelToken::Registration {
 public:
  Registration() = default;
  Registration(Registration&&) = default;
  Registration& operator=(Registration&& other);
  ~Registration() { End(); }
  void End();
  // Ends like End, but does not wait for a call under way.
  void Drop();

 private:
  friend class CancelToken;
  explicit Registration(std::shared_ptr<Call> call) : call_(std::move(call)) {}
  std::shared_ptr<Call> call_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_CANCEL_H_
