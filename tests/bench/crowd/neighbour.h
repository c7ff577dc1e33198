// Neighbour: a session with small steps beside one that keeps the device busy.
#ifndef HAWSER_TESTS_BENCH_CROWD_NEIGHBOUR_H_
#define HAWSER_TESTS_BENCH_CROWD_NEIGHBOUR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/report.h"

namespace hawser::bench {

struct NeighbourPlan {
  int rounds = 3;
  double seconds = 3;  // of each in a round
  int64_t size = 768;  // of the square matrices that the other multiplies
};

// Adds rows for where `peers` are now: steps alone and beside the other
// session, the same of bare gRPC exchanges with a process of their own, which
// share nothing with it but the machine, and what the other session loses.
absl::Status MeasureNeighbour(const Peers& peers, const NeighbourPlan& plan,
                              const std::string& placement, Report* report);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_CROWD_NEIGHBOUR_H_
