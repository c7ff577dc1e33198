// When one attempt of a call is over.
#ifndef HAWSER_CORE_RUNTIME_ATTEMPT_H_
#define HAWSER_CORE_RUNTIME_ATTEMPT_H_

#include "core/base/clock.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"

namespace hawser::runtime {

// The token of `call` with its attempt timeout, counted from now.
inline CancelToken AttemptToken(const CallOptions& call) {
  if (call.attempt_timeout == absl::InfiniteDuration()) return call.cancel;
  return call.cancel.Until(SteadyNow() + call.attempt_timeout,
                           "no answer within the attempt's timeout");
}

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_ATTEMPT_H_
