// What a process holds of its machine, as /proc says: what leaks show in.
#ifndef HAWSER_TESTS_TESTING_PROCESSES_PROCESS_COUNTS_H_
#define HAWSER_TESTS_TESTING_PROCESSES_PROCESS_COUNTS_H_

#include <sys/types.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace hawser::testing {

struct ProcessCounts {
  int threads = 0;  // but for those of gRPC's pools
  int files = 0;    // open descriptors

  friend bool operator==(const ProcessCounts&,
                         const ProcessCounts&) = default;
};
std::ostream& operator<<(std::ostream& out, const ProcessCounts& counts);

// Of the process `pid`; zeros when it is gone.
ProcessCounts CountsOf(pid_t pid);
// Of this process.
ProcessCounts OwnCounts();

// Threads of the pools that gRPC keeps for a whole process. They grow with the
// load and stay, so they are no baseline, but have a bound.
int GrpcPoolThreads(pid_t pid);
int MostGrpcPoolThreads();

// Asks until `done`, at most for `patience`: whether it came to that.
bool Await(absl::Duration patience, const std::function<bool()>& done);

// Files below `folder` whose names end in ".tmp".
std::vector<std::string> TemporaryFiles(const std::string& folder);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_TESTING_PROCESSES_PROCESS_COUNTS_H_
