// Watchdog: how long a device may make no progress before it counts as lost.
#ifndef HAWSER_KERNELS_CUDA_WATCHDOG_H_
#define HAWSER_KERNELS_CUDA_WATCHDOG_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/status.h"

namespace hawser::cuda {

// Counts the progress of a device on all its streams. Patience runs out only
// while that count stands still. Thread-safe.
class Watchdog {
 public:
  explicit Watchdog(absl::Duration patience) : patience_(patience) {}

  void Progressed() { done_.fetch_add(1, std::memory_order_relaxed); }

  // The wait of one thread. It spins for as long as a small kernel takes, then
  // it sleeps for an eighth of the time it has waited, 1 ms at most.
  class Wait {
   public:
    explicit Wait(Watchdog* watchdog)
        : watchdog_(watchdog), seen_(watchdog->done_.load()) {}

    // Spins or sleeps once. `now` goes on from call to call. Errors:
    // kUnavailable when there was no progress for as long as the patience.
    absl::Status Pause(absl::Time now = absl::Now()) {
      if (begun_ == absl::InfinitePast()) begun_ = since_ = now;
      const uint64_t done = watchdog_->done_.load(std::memory_order_relaxed);
      if (done != seen_) {
        seen_ = done;
        since_ = now;
      }
      if (now - since_ >= watchdog_->patience_) {
        return Unavailable("the device has not got anything done for ",
                           absl::FormatDuration(now - since_));
      }
      const absl::Duration waited = now - begun_;
      if (waited > kSpin) {
        absl::SleepFor(std::min(waited / 8, absl::Milliseconds(1)));
      }
      return absl::OkStatus();
    }

   private:
    static constexpr absl::Duration kSpin = absl::Microseconds(50);

    Watchdog* const watchdog_;
    uint64_t seen_;
    absl::Time begun_ = absl::InfinitePast();
    absl::Time since_ = absl::InfinitePast();
  };

 private:
  const absl::Duration patience_;
  std::atomic<uint64_t> done_{0};
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_WATCHDOG_H_
