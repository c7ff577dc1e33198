// Breaker: after the link to the primary broke, sends work straight to the
// secondary and asks in the background whether the primary is back.
#ifndef HAWSER_CLIENT_FALLBACK_BREAKER_H_
#define HAWSER_CLIENT_FALLBACK_BREAKER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/future.h"

namespace hawser {

// Thread-safe. `probe` runs on the breaker's own thread and may block; the
// destructor waits for it.
class Breaker {
 public:
  struct Options {
    absl::Duration probe_first;
    absl::Duration probe_longest;
    std::function<absl::Status()> probe;  // OK closes the breaker
    // It is called when the probe has succeeded and no call can look at the
    // epoch; false: something has changed that the probe did not see, and it is
    // to come again at once. Must not use the breaker.
    std::function<bool()> settled;
    std::function<void(const absl::Status& why)> on_open;
    // Called on the breaker's thread, once it is closed and before waits end.
    std::function<void()> on_close;
  };
  explicit Breaker(Options options) : options_(std::move(options)) {}

  // Closed: the primary is used. Even epochs are closed, odd ones open; what
  // was made on the primary in an earlier epoch is lost to it.
  uint64_t epoch() const;
  static bool IsOpen(uint64_t epoch) { return (epoch & 1) != 0; }

  // Something begun in `epoch` found the primary gone. Late news of an epoch
  // that is over changes nothing.
  void Trip(uint64_t epoch, const absl::Status& why);

  // True once it is closed, or now. Completes on the breaker's thread;
  // kCancelled after Abandon.
  Future<bool> Closed() const;
  // Ends all waits for Closed, for good.
  void Abandon();

 private:
  void ProbeAfter(absl::Duration wait);
  bool Close();

  const Options options_;
  mutable Mutex mu_;
  uint64_t epoch_ ABSL_GUARDED_BY(mu_) = 0;
  // The promise of Closed, while it is open.
  std::shared_ptr<Promise<bool>> closed_ ABSL_GUARDED_BY(mu_);
  bool abandoned_ ABSL_GUARDED_BY(mu_) = false;
  Alarm alarm_;  // last: its thread uses the rest
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_BREAKER_H_
