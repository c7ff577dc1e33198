// What every bench does with times.
#ifndef HAWSER_CLIENT_BENCH_TIMING_H_
#define HAWSER_CLIENT_BENCH_TIMING_H_

#include <vector>

namespace hawser::bench {

// Since some moment in the past; never goes back.
double NowMicros();

// The least of `values`, which must not be empty, that is not below a `q`-th
// of them: 0.5 is the median.
double Quantile(std::vector<double> values, double q);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TIMING_H_
