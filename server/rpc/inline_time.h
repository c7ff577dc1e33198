// InlineTime: how long threads that serve connections compute.
#ifndef HAWSER_SERVER_RPC_INLINE_TIME_H_
#define HAWSER_SERVER_RPC_INLINE_TIME_H_

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace hawser::server {

// A thread that serves connections runs short executions itself, for at most
// kMost within the handling of one event. If several flows (sessions, or
// tenants' calls) compute on it, measured time also counts against an allowance
// of kMost, which comes back at a quarter of the time that passes. Beyond
// either, executions go to other threads. Executions of less than kUnnoticed
// cost no more than the way there and do not count. All of it is of the calling
// thread alone.
class InlineTime {
 public:
  static constexpr absl::Duration kMost = absl::Milliseconds(1);
  static constexpr absl::Duration kUnnoticed = absl::Microseconds(50);
  static constexpr int kShare = 4;
  // After so long without another flow's execution a flow is alone.
  static constexpr absl::Duration kAlone = absl::Milliseconds(10);

  // The flow of executions that come from several clients.
  static constexpr uint64_t kSeveral = 0;

  // The thread begins to handle another event.
  static void BeginEvent() { Here().in_event = absl::ZeroDuration(); }

  // True if the next execution, of `flow`, may run on this thread.
  static bool Left(uint64_t flow) {
    State& state = Here();
    if (flow != state.flow || flow == kSeveral) {
      state.flow = flow;
      state.shared_until = SteadyNow() + kAlone;
    }
    if (state.in_event >= kMost) return false;
    if (state.spent < kMost) return true;
    const absl::Time now = SteadyNow();
    if (now >= state.shared_until) return true;
    state.Recover(now);
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
      state.in_event += now - start_;
      state.spent = std::min(state.spent + (now - start_), kMostDebt);
      state.counted_to = now;
    }

   private:
    const absl::Time start_ = SteadyNow();
  };

 private:
  // A flow that was alone is not blamed for long for what it has spent.
  static constexpr absl::Duration kMostDebt = absl::Milliseconds(20);

  struct State {
    uint64_t flow = 0;        // of the last execution
    absl::Time shared_until;  // another flow has computed here lately
    absl::Duration in_event;
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
#endif  // HAWSER_SERVER_RPC_INLINE_TIME_H_
