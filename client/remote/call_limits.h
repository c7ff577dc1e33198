// CallLimits: when a call must have ended, fixed when it starts.
#ifndef HAWSER_CLIENT_REMOTE_CALL_LIMITS_H_
#define HAWSER_CLIENT_REMOTE_CALL_LIMITS_H_

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/cancel.h"
#include "core/base/clock.h"
#include "core/base/future.h"
#include "core/base/or_expired.h"
#include "core/base/status.h"
#include "core/runtime/client.h"

namespace hawser {

class CallLimits {
 public:
  CallLimits() = default;  // none
  explicit CallLimits(const runtime::CallOptions& call)
      : cancel_(call.cancel), deadline_(call.cancel.deadline()) {
    if (call.attempt_timeout != absl::InfiniteDuration()) {
      deadline_ = std::min(deadline_, SteadyNow() + call.attempt_timeout);
    }
  }

  absl::Time deadline() const { return deadline_; }
  // False: Check never fails.
  bool any() const {
    return cancel_.can_expire() || deadline_ != absl::InfiniteFuture();
  }

  // OK, or why it is over: kCancelled, kDeadlineExceeded (also of the
  // attempt), saying who was asked.
  absl::Status Check(absl::Time now, absl::string_view who) const {
    if (absl::Status own = CheckCaller(); !own.ok()) return Annotate(own, who);
    if (now < deadline_) return absl::OkStatus();
    return DeadlineExceeded(who, ": no answer within the attempt's timeout");
  }
  // The caller's own wish alone: OK when only the attempt took too long.
  absl::Status CheckCaller() const { return cancel_.Check(); }

  // For a part of this call: ends with it, or by the token's own Cancel.
  CancelToken Token() const { return cancel_.Until(deadline_); }
  runtime::CallOptions Rest() const {
    runtime::CallOptions rest;
    rest.cancel = Token();
    return rest;
  }

 private:
  CancelToken cancel_;
  absl::Time deadline_ = absl::InfiniteFuture();
};

// Waits for `future` within `limits`.
template <typename T>
absl::StatusOr<T> AwaitWithin(const Future<T>& future, const CallLimits& limits,
                              absl::string_view who) {
  if (!limits.any()) return future.Await();
  absl::StatusOr<T> result = OrExpired(future, limits.Token()).Await();
  if (future.ready()) return future.Await();
  HAWSER_RETURN_IF_ERROR(limits.Check(SteadyNow(), who));
  return result;
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_CALL_LIMITS_H_
