// Attempt: one try at the primary. PatientCall: a call that may wait for it.
// Within: a future that ends in time.
#ifndef HAWSER_CLIENT_FALLBACK_ATTEMPT_H_
#define HAWSER_CLIENT_FALLBACK_ATTEMPT_H_

#include <cstdint>

#include "absl/time/time.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/client.h"

namespace hawser {

struct Attempt {
  uint64_t epoch = 0;  // of the breaker when it began
  CancelToken caller;  // the caller's own wish and deadline
  // Then the primary has had its time; infinite unless before the deadline.
  absl::Time end = absl::InfiniteFuture();
};

// The limits of a call, and when its waits for the primary end where its caller
// set no deadline; infinite: it has not waited yet. Work that is done once the
// primary is back has the caller's limits again.
struct PatientCall : runtime::CallOptions {
  absl::Time wait_end = absl::InfiniteFuture();
};

// `answer`, or kDeadlineExceeded at `end`, whichever is first.
template <typename T>
Future<T> Within(const Future<T>& answer, absl::Time end) {
  if (end == absl::InfiniteFuture()) return answer;
  return OrExpired(answer, CancelToken(end), "no answer in time");
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_ATTEMPT_H_
