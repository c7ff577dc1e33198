#include "client/bench/turns.h"

#include "client/bench/timing.h"
#include "core/base/clock.h"

namespace hawser::bench {

const absl::Status& Timed::Call() {
  const double start = NowMicros();
  failure = once();
  if (failure.ok()) micros.push_back(NowMicros() - start);
  return failure;
}

void TakeTurns(absl::Span<Timed* const> subjects, absl::Duration turn,
               absl::Time end, const CancelToken& cancel) {
  const auto round = [&] {
    for (Timed* subject : subjects) {
      const absl::Time turn_end = SteadyNow() + turn;
      for (int i = 0; i < subject->most_per_turn && cancel.Check().ok() &&
                      subject->failure.ok() && subject->Call().ok();
           ++i) {
        if (SteadyNow() >= turn_end) break;
      }
    }
  };
  round();
  if (SteadyNow() >= end) return;
  for (Timed* subject : subjects) subject->micros.clear();
  do {
    round();
  } while (SteadyNow() < end && cancel.Check().ok());
}

}  // namespace hawser::bench
