// Runs many seeded schedules, some at once, and says which of them failed.
#ifndef HAWSER_TESTS_SCHEDULES_SCHEDULES_H_
#define HAWSER_TESTS_SCHEDULES_SCHEDULES_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"

namespace hawser {

// Calls `schedule` with every seed of [first, first + count), which says what
// went wrong; each such seed fails the test and is printed. With
// HAWSER_SCHEDULE=<seed> in the environment only that one runs, wherever it
// belongs. At the end as many threads are alive as before.
void RunSchedules(uint64_t first, int count,
                  const std::function<absl::Status(uint64_t seed)>& schedule);

// Polls until `holds`, for as long as a busy machine may need.
bool Eventually(const std::function<bool()>& holds);

}  // namespace hawser
#endif  // HAWSER_TESTS_SCHEDULES_SCHEDULES_H_
