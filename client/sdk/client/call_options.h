// Settings of the calls that may block.
#ifndef HAWSER_CLIENT_SDK_CLIENT_CALL_OPTIONS_H_
#define HAWSER_CLIENT_SDK_CLIENT_CALL_OPTIONS_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/options.h"

namespace hawser {

// The limits of a call: how long it may take and who may stop it.
struct CallOptions {
  // It counts from the moment of the call, for everything it does.
  absl::Duration deadline = absl::InfiniteDuration();
  // For one attempt on one client; a client with a fallback goes there then.
  absl::Duration attempt_timeout = absl::InfiniteDuration();
  CancelToken cancel;
  // Called with (bytes done, bytes in all) now and then, on any thread.
  std::function<void(int64_t, int64_t)> progress;

  // The same with the deadline as a point in time, counted from now.
  runtime::CallOptions FromNow() const {
    const bool timed = deadline != absl::InfiniteDuration();
    return {.cancel = timed ? cancel.Until(SteadyNow() + deadline) : cancel,
            .attempt_timeout = attempt_timeout,
            .progress = progress};
  }
};

// The options of Client::Dataset.
struct DatasetOptions {
  CallOptions call;
  // A dataset of at most this many bytes is copied to this process, in the
  // background, where the client has a fallback: once that is done, work on it
  // goes on here while the server is away. 0: such work waits for the server.
  int64_t keep_local = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_CLIENT_CALL_OPTIONS_H_
