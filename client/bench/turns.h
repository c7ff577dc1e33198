// Turns: several operations timed one after another, for a while.
#ifndef HAWSER_CLIENT_BENCH_TURNS_H_
#define HAWSER_CLIENT_BENCH_TURNS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/cancel.h"

namespace hawser::bench {

// An operation and the times it took.
struct Timed {
  std::string name;
  std::function<absl::Status()> once;
  int most_per_turn = 1000;
  std::vector<double> micros = {};
  absl::Status failure = {};  // why it is no longer called

  bool measured() const { return !micros.empty(); }
  // Calls it once and adds its time, or keeps why it has failed.
  const absl::Status& Call();
};

// Gives each a turn of up to `turn`, at least one call, again and again until
// `end`. The first round warms up and is forgotten where there is time for
// another. One that fails gets no more turns. Ends early with `cancel`.
void TakeTurns(absl::Span<Timed* const> subjects, absl::Duration turn,
               absl::Time end, const CancelToken& cancel);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TURNS_H_
