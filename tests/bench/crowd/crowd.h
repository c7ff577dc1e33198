// Crowd: many connections at once, against as many to a bare gRPC server.
#ifndef HAWSER_TESTS_BENCH_CROWD_CROWD_H_
#define HAWSER_TESTS_BENCH_CROWD_CROWD_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/report.h"

namespace hawser::bench {

// A process has so long beyond the time that is counted, to connect on a busy
// machine.
inline constexpr absl::Duration kPatience = absl::Seconds(60);

struct CrowdPlan {
  int rounds = 5;
  int connections = 500;
  double seconds = 2;  // of each in a round
};

// Adds rows for where `peers` are now. Every connection makes one call after
// another, of a program that is compiled, or of the echo; messages are as long.
// Errors: that of the first call that fails, of all.
absl::Status MeasureCrowd(const Peers& peers, const CrowdPlan& plan,
                          const std::string& placement, Report* report);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_CROWD_CROWD_H_
