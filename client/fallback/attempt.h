// Attempt: one try at the primary. Within: a future that ends in time.
#ifndef HAWSER_CLIENT_FALLBACK_ATTEMPT_H_
#define HAWSER_CLIENT_FALLBACK_ATTEMPT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "core/base/alarm.h"
#include "core/base/cancel.h"
#include "core/base/future.h"
#include "core/base/gate.h"
#include "core/base/status.h"

namespace hawser {

struct Attempt {
  uint64_t epoch = 0;  // of the breaker when it began
  CancelToken caller;  // the caller's own wish and deadline
  // Then the primary has had its time; infinite unless before the deadline.
  absl::Time end = absl::InfiniteFuture();
};

// `answer`, or kDeadlineExceeded at `end`, whichever is first; kCancelled when
// `alarm`, which lives behind `gate`, dies before both. Called inside the gate.
template <typename T>
Future<T> Within(const Future<T>& answer, absl::Time end, Alarm* alarm,
                 const std::shared_ptr<Gate>& gate) {
  if (end == absl::InfiniteFuture()) return answer;
  // The timer alone owns the promise, so nobody waits for a dropped timer.
  auto promise = std::make_shared<Promise<T>>();
  const std::weak_ptr<Promise<T>> weak = promise;
  Future<T> result = promise->future();
  const Alarm::Id timer =
      alarm->At(end, [promise = std::move(promise)] {
        promise->Set(DeadlineExceeded("no answer in time"));
      });
  answer.OnReady([weak, timer, alarm, gate](const absl::StatusOr<T>& value) {
    const std::shared_ptr<Promise<T>> first = weak.lock();
    if (first == nullptr) return;
    first->Set(value);
    const Gate::Pass pass = gate->Enter();
    if (pass) alarm->Cancel(timer);
  });
  return result;
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_ATTEMPT_H_
