// All that is measured of the wire, in one report.
#ifndef HAWSER_TESTS_BENCH_WIRE_WIRE_BENCH_H_
#define HAWSER_TESTS_BENCH_WIRE_WIRE_BENCH_H_

#include "absl/status/statusor.h"
#include "tests/bench/measure/latency.h"
#include "tests/bench/measure/report.h"
#include "tests/bench/measure/throughput.h"

namespace hawser::bench {

struct WirePlan {
  LatencyPlan latency;
  ThroughputPlan throughput;
};

// Starts the servers and measures with client and server on two cores, then on
// one (on that alone where there are no two). Leaves this process on one core.
absl::StatusOr<Report> MeasureWire(const WirePlan& plan);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_WIRE_WIRE_BENCH_H_
