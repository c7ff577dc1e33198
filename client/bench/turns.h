// Turns: several operations timed one after another, for a while.
#ifndef HAWSER_CLIENT_BENCH_TURNS_H_
#define HAWSER_CLIENT_BENCH_TURNS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/threads/cancel.h"

namespace hawser::bench {

// An operation and the times it took.
struct Timed {
  std::string name;
  std::function<absl::Status()> once;
  int most_per_turn = 1000;
  std::vector<double> micros = {};
  absl::Status failure = {};  // a failed operation is not called again

  bool measured() const { return !micros.empty(); }
  // Calls the operation once; adds its time, or keeps its failure.
  const absl::Status& Call();
};

// Gives each subject a turn of up to `turn`, at least one call, again and again
// until `end`. The times of the first round are dropped where there is time for
// another. A subject that fails gets no more turns. Ends early with `cancel`.
void TakeTurns(absl::Span<Timed* const> subjects, absl::Duration turn,
               absl::Time end, const CancelToken& cancel);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TURNS_H_
