// Which cores processes run on: latency depends on it more than on anything
// else here.
#ifndef HAWSER_TESTS_BENCH_MEASURE_PLACEMENT_H_
#define HAWSER_TESTS_BENCH_MEASURE_PLACEMENT_H_

#include <sys/types.h>

#include <vector>

#include "absl/status/status.h"

namespace hawser::bench {

// The cores this process may use now, in order.
std::vector<int> Cores();

// Moves every thread of `process` to `core`; threads it starts later follow.
absl::Status Pin(pid_t process, int core);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_MEASURE_PLACEMENT_H_
