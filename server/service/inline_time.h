// InlineTime: how long threads that serve connections compute.
#ifndef HAWSER_SERVER_SERVICE_INLINE_TIME_H_
#define HAWSER_SERVER_SERVICE_INLINE_TIME_H_

#include <algorithm>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace hawser::server {

// A thread that serves connections runs short executions itself. What it was
// measured to spend so counts against an allowance of kMost, which comes back
// at a quarter of the time that passes; once it is used up, executions go to
// other threads. Those that take less than kUnnoticed cost no more than the way
// there and do not count. Of the calling thread alone.
class InlineTime {
 public:
  static constexpr absl::Duration kMost = absl::Milliseconds(1);
  static constexpr absl::Duration kUnnoticed = absl::Microseconds(50);
  static constexpr int kShare = 4;

  // Whether the next execution may run on this thread.
  static bool Left() {
    State& state = Here();
    if (state.spent < kMost) return true;
    state.Recover(SteadyNow());
    return state.spent < kMost;
  }

  // Measures from its making to its death.
  class Measure {
   public:
    ~Measure() {
      const absl::Time now = SteadyNow();
      if (now - start_ < kUnnoticed) return;
      State& state = Here();
      state.Recover(start_);
      state.spent += now - start_;
      state.counted_to = now;
    }

   private:
    const absl::Time start_ = SteadyNow();
  };

 private:
  struct State {
    absl::Duration spent;
    absl::Time counted_to = SteadyNow();

    void Recover(absl::Time now) {
      spent =
          std::max(spent - (now - counted_to) / kShare, absl::ZeroDuration());
      counted_to = now;
    }
  };
  static State& Here() {
    static thread_local State state;
    return state;
  }
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_INLINE_TIME_H_
