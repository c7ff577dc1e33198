// Rounds: several operations measured in turn, so that what the machine does
// meanwhile happens to all of them.
#ifndef HAWSER_TESTS_BENCH_MEASURE_ROUNDS_H_
#define HAWSER_TESTS_BENCH_MEASURE_ROUNDS_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hawser::bench {

// Of one operation, in microseconds.
struct Times {
  double p50 = 0;
  double p99 = 0;
  // What it takes undisturbed: the cores of a shared machine lose up to half of
  // their speed for a while, each for itself. 0 where it is not needed.
  double p5 = 0;
};
// Runs `once` so often in a row. Errors: its first.
absl::StatusOr<Times> TimesOf(const std::function<absl::Status()>& once,
                              int iterations);

// What takes its turn in each round.
using Subject = std::function<absl::StatusOr<Times>()>;
using Round = std::vector<Times>;  // by subject
using Rounds = std::vector<Round>;

// Errors: the first of a subject.
absl::StatusOr<Round> MeasureOnce(const std::vector<Subject>& subjects);
// That many times, after a first round that is not counted.
absl::StatusOr<Rounds> Measure(const std::vector<Subject>& subjects,
                               int rounds);

// The median over the rounds of what `figure` makes of each.
double MedianOf(const Rounds& rounds,
                const std::function<double(const Round&)>& figure);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_MEASURE_ROUNDS_H_
