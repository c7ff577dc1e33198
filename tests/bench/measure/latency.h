// Latency: steps, calls and chains against bare gRPC exchanges.
#ifndef HAWSER_TESTS_BENCH_MEASURE_LATENCY_H_
#define HAWSER_TESTS_BENCH_MEASURE_LATENCY_H_

#include <string>

#include "absl/status/status.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/report.h"

namespace hawser::bench {

struct LatencyPlan {
  int rounds = 15;
  int iterations = 500;  // of a step per round; a chain does fewer
};

// Adds a row per target to `report`, for where `peers` are now.
absl::Status MeasureLatency(const Peers& peers, const LatencyPlan& plan,
                            const std::string& placement, Report* report);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_MEASURE_LATENCY_H_
