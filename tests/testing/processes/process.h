// Child processes for tests that need real binaries.
#ifndef HAWSER_TESTS_TESTING_PROCESSES_PROCESS_H_
#define HAWSER_TESTS_TESTING_PROCESSES_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace hawser::testing {

// A child with its stdout and stderr in one pipe. Killed with -9 and reaped
// when it goes out of scope. Not thread-safe.
class Process {
 public:
  // `argv[0]` is a path. Errors: kNotFound when it cannot be started.
  static absl::StatusOr<Process> Start(
      const std::vector<std::string>& argv,
      const std::vector<std::string>& environment = {});  // "NAME=value"
  Process(Process&& other);
  Process& operator=(Process&& other);
  ~Process();

  pid_t pid() const { return pid_; }
  // The next line without its end. Errors: kDeadlineExceeded, kUnavailable
  // when the output has ended; both quote what was read so far.
  absl::StatusOr<std::string> ReadLine(absl::Duration patience);
  // The first line that holds `part`.
  absl::StatusOr<std::string> ReadLineWith(absl::string_view part,
                                           absl::Duration patience);
  void Signal(int signal);
  // SIGSTOP; returns once every thread has stopped. SIGCONT by Signal goes on.
  // Errors: kUnavailable when it has ended instead.
  absl::Status Freeze();
  // The exit code, or 128 + the signal that ended it; reads output meanwhile.
  absl::StatusOr<int> Wait(absl::Duration patience);
  // All it has written so far.
  const std::string& output() const { return output_; }
  // The most memory it has had, in bytes, once Wait has seen it end. At least
  // what this process had when it started it.
  int64_t peak_memory() const { return peak_memory_; }

 private:
  Process(pid_t pid, int fd) : pid_(pid), fd_(fd) {}
  bool ReadSome(absl::Time deadline);  // false: nothing more will come
  // What waitpid says; keeps its peak memory.
  pid_t Reap(int* status, int flags);

  pid_t pid_ = -1;
  int fd_ = -1;
  bool reaped_ = false;
  int exit_code_ = 0;
  int64_t peak_memory_ = 0;
  std::string output_;
  size_t line_start_ = 0;
};

// A file of this build, by its path from the repository root
// ("server/hawserd"), as Bazel lays it out for a test.
std::string Runfile(absl::string_view path);

// Starts server/hawserd on a free loopback port with `flags` added and waits
// until it is ready. `address` gets "127.0.0.1:port". `launcher` is a command
// that runs what is appended to it: {"/usr/bin/nsenter", ...}.
absl::StatusOr<Process> StartHawserd(
    const std::vector<std::string>& flags, std::string* address,
    const std::vector<std::string>& launcher = {});

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_TESTING_PROCESSES_PROCESS_H_
