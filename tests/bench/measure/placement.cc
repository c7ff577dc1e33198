#include "tests/bench/measure/placement.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::bench {

std::vector<int> Cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

absl::Status Pin(pid_t process, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  std::error_code error;
  const std::filesystem::directory_iterator threads(
      absl::StrCat("/proc/", process, "/task"), error);
  if (error) {
    return NotFound("process ", process, " has no threads: ", error.message());
  }
  for (const auto& entry : threads) {
    pid_t thread = 0;
    if (!absl::SimpleAtoi(entry.path().filename().string(), &thread)) continue;
    // One that has just ended needs no core.
    if (sched_setaffinity(thread, sizeof(set), &set) != 0 && errno != ESRCH) {
      return Internal("cannot move thread ", thread, " to core ", core, ": ",
                      std::strerror(errno));
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser::bench
