#include "tests/bench/measure/rounds.h"

#include <utility>

#include "client/bench/timing.h"
#include "core/base/status.h"

namespace hawser::bench {

absl::StatusOr<Times> TimesOf(const std::function<absl::Status()>& once,
                              int iterations) {
  std::vector<double> micros;
  micros.reserve(iterations);
  for (int i = 0; i < iterations; ++i) {
    const double start = NowMicros();
    HAWSER_RETURN_IF_ERROR(once());
    micros.push_back(NowMicros() - start);
  }
  return Times{Quantile(micros, 0.5), Quantile(micros, 0.99),
               Quantile(micros, 0.05)};
}

absl::StatusOr<Round> MeasureOnce(const std::vector<Subject>& subjects) {
  Round round;
  for (const Subject& subject : subjects) {
    HAWSER_ASSIGN_OR_RETURN(round.emplace_back(), subject());
  }
  return round;
}

absl::StatusOr<Rounds> Measure(const std::vector<Subject>& subjects,
                               int rounds) {
  Rounds all;
  HAWSER_RETURN_IF_ERROR(MeasureOnce(subjects).status());
  for (int i = 0; i < rounds; ++i) {
    HAWSER_ASSIGN_OR_RETURN(all.emplace_back(), MeasureOnce(subjects));
  }
  return all;
}

double MedianOf(const Rounds& rounds,
                const std::function<double(const Round&)>& figure) {
  std::vector<double> figures;
  for (const Round& round : rounds) figures.push_back(figure(round));
  return Quantile(std::move(figures), 0.5);
}

}  // namespace hawser::bench
