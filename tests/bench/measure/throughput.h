// Throughput: putting a dataset against a bare gRPC client stream.
#ifndef HAWSER_TESTS_BENCH_MEASURE_THROUGHPUT_H_
#define HAWSER_TESTS_BENCH_MEASURE_THROUGHPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/report.h"

namespace hawser::bench {

// Of a frame of hawser's streams (client/remote/grpc_transport.cc).
inline constexpr size_t kFrameBytes = 512 << 10;

struct ThroughputPlan {
  int rounds = 5;
  int64_t bytes = int64_t{256} << 20;  // at most, what the echo server holds
};

// Adds the row of a put to `report`, and what putting it again has sent.
absl::Status MeasureThroughput(const Peers& peers, const ThroughputPlan& plan,
                               const std::string& placement, Report* report);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_MEASURE_THROUGHPUT_H_
