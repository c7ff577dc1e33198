// BriefWait: a thread that is about to sleep for a value works for it first.
#ifndef HAWSER_CLIENT_PJRT_OBJECTS_BRIEF_WAIT_H_
#define HAWSER_CLIENT_PJRT_OBJECTS_BRIEF_WAIT_H_

#include <atomic>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/threads/future.h"

namespace hawser::pjrt {

// JAX asks for an event, has itself called when that is ready, and sleeps. Where
// the server answers in tens of microseconds, waking two threads takes longer
// than the answer; a thread that awaits a Future takes it from the network by
// itself. So what asks for an event waits for it briefly. Calls of which the
// last ones waited in vain, for work that takes long, wait rarely.
class BriefWait {
 public:
  // The caller holds no lock that a callback takes.
  template <typename T>
  void For(const Future<T>& future) {
    if (future.ready() || !IsWorthwhile()) return;
    (void)future.Await(SteadyNow() + kBrief);
    vain_.store(future.ready() ? 0 : vain_.load() + 1);
  }

  static BriefWait& OfProcess() {
    static BriefWait& wait = *new BriefWait();  // threads may outlive statics
    return wait;
  }

 private:
  static constexpr absl::Duration kBrief = absl::Microseconds(200);
  static constexpr int kRarest = 6;  // one call in 2^6

  // One call in 2^k after k in vain.
  bool IsWorthwhile() {
    const int vain = vain_.load() < kRarest ? vain_.load() : kRarest;
    return (calls_.fetch_add(1) & ((1u << vain) - 1)) == 0;
  }

  std::atomic<int> vain_{0};
  std::atomic<unsigned> calls_{0};
};

}  // namespace hawser::pjrt
#endif  // HAWSER_CLIENT_PJRT_OBJECTS_BRIEF_WAIT_H_
