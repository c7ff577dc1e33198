// SpinWait: polling for a moment before going to sleep, where that pays.
#ifndef HAWSER_CORE_BASE_THREADS_SPIN_H_
#define HAWSER_CORE_BASE_THREADS_SPIN_H_

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace hawser {

// To be put to sleep and woken takes 20 to 50 us in a virtual machine, which is
// half of a small step, and a tenth of the longest wait that is polled for.
// Learns whether what is waited for comes within that, and whether no other
// thread wants the core meanwhile; where not, hardly anything is spent. One
// thread at a time.
class SpinWait {
 public:
  explicit SpinWait(
      std::chrono::microseconds longest = std::chrono::microseconds(500))
      : longest_(longest) {}
  // Calls poll() until it says true, for at most `longest`, or not at all.
  // Returns whether it did.
  template <typename Poll>
  bool Until(const Poll& poll) {
    if (trust_ == 0 && ++skipped_ < skips_) return false;
    skipped_ = 0;
    // Says nothing: gRPC reads a message in one poll, and tells of it in the
    // next one.
    if (poll()) return true;
    const long interruptions = Interruptions();
    const bool came = PollUntil(poll, Clock::now() + longest_);
    if (came && Interruptions() == interruptions) {
      trust_ = std::min(trust_ + 1, kMostTrust);
      skips_ = kFewestSkips;
      return true;
    }
    trust_ = std::max(trust_ - kMiss, 0);
    if (trust_ == 0) skips_ = std::min(2 * skips_, kMostSkips);
    return came;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kMostTrust = 8;
  static constexpr int kMiss = 3;  // outweighs three that came
  // Waits without a poll, then one with, to see what has changed.
  static constexpr int kFewestSkips = 64;
  static constexpr int kMostSkips = 4096;

  template <typename Poll>
  static bool PollUntil(const Poll& poll, Clock::time_point end) {
    do {
      if (poll()) return true;
    } while (Clock::now() < end);
    return false;
  }
  // Returns how often the kernel has given this thread's core to another.
  static long Interruptions() {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
  }

  const std::chrono::microseconds longest_;
  int trust_ = kMostTrust;
  int skipped_ = 0;
  int skips_ = kFewestSkips;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_SPIN_H_
