// The time by the steady clock, for deadlines, leases and alarms.
#ifndef HAWSER_CORE_BASE_CLOCK_H_
#define HAWSER_CORE_BASE_CLOCK_H_

#include <chrono>

#include "absl/time/time.h"

namespace hawser {

// Returns the wall clock of this process's first call plus the time that the
// steady clock has measured since. A wall clock that jumps changes none of what
// is compared with it; what leaves the process as a date (a log line, the last
// use of a dataset, a certificate's end) is absl::Now() instead.
absl::Time SteadyNow();

// The same moment for those who measure by other clocks: waits of the standard
// library, and gRPC, which takes wall-clock deadlines. Beyond a year: a year.
std::chrono::steady_clock::time_point ToSteadyChrono(absl::Time time);
std::chrono::system_clock::time_point ToWallChrono(absl::Time time);
// A moment of the wall clock, as gRPC tells deadlines.
absl::Time FromWall(absl::Time wall);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_CLOCK_H_
