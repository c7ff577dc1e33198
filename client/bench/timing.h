// Times of benches.
#ifndef HAWSER_CLIENT_BENCH_TIMING_H_
#define HAWSER_CLIENT_BENCH_TIMING_H_

#include <vector>

namespace hawser::bench {

// Microseconds since a fixed moment; never goes back.
double NowMicros();

// The `q`-quantile of `values`, which must not be empty: 0.5 is the median.
double Quantile(std::vector<double> values, double q);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TIMING_H_
