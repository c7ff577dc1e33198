// Bulk: large values both ways, against bare gRPC streams and the disk.
#ifndef HAWSER_TESTS_BENCH_WIRE_BULK_H_
#define HAWSER_TESTS_BENCH_WIRE_BULK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/measure/report.h"

namespace hawser::bench {

struct BulkPlan {
  int rounds = 5;
  // To and from memory.
  std::vector<int64_t> bytes = {int64_t{64} << 20, int64_t{512} << 20};
  // To the disk.
  int64_t durable_bytes = int64_t{512} << 20;
  // Of one upload whose memory is watched; 0: none.
  int64_t watched_bytes = int64_t{4} << 30;
  // Where durable uploads go, and what they are compared with.
  std::string folder = "/tmp";
};

// Starts servers of its own. The floors have as many streams as hawser has and
// frames as long.
absl::StatusOr<Report> MeasureBulk(const BulkPlan& plan);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_WIRE_BULK_H_
