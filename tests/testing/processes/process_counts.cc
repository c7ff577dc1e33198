#include "tests/testing/processes/process_counts.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"

namespace hawser::testing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Entries(const std::string& folder) {
  std::vector<fs::path> found;
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end;
       at.increment(gone)) {
    found.push_back(at->path());
  }
  return found;
}

// As the kernel cuts names of threads: at 15 bytes.
constexpr absl::string_view kGrpcPools[] = {
    "default-executo", "resolver-execut", "event_engine",  "timer_manager",
    "grpc_global_tim", "nexting_thread",  "grpcpp_sync_se"};

bool InGrpcPool(const fs::path& task) {
  std::string name;
  std::getline(std::ifstream(task / "comm"), name);
  for (const absl::string_view pool : kGrpcPools) {
    if (absl::StartsWith(name, pool)) return true;
  }
  return false;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ProcessCounts& counts) {
  return out << counts.threads << " threads, " << counts.files << " files";
}

ProcessCounts CountsOf(pid_t pid) {
  const auto tasks = Entries(absl::StrCat("/proc/", pid, "/task"));
  const auto files = Entries(absl::StrCat("/proc/", pid, "/fd"));
  return {.threads = static_cast<int>(
              std::count_if(tasks.begin(), tasks.end(),
                            [](const auto& t) { return !InGrpcPool(t); })),
          .files = static_cast<int>(files.size())};
}

int GrpcPoolThreads(pid_t pid) {
  const auto tasks = Entries(absl::StrCat("/proc/", pid, "/task"));
  return static_cast<int>(
      std::count_if(tasks.begin(), tasks.end(), InGrpcPool));
}

// Two executors of two threads a core, and a handful that are not many.
int MostGrpcPoolThreads() {
  return 10 + 4 * static_cast<int>(std::thread::hardware_concurrency());
}

ProcessCounts OwnCounts() { return CountsOf(getpid()); }

bool Await(absl::Duration patience, const std::function<bool()>& done) {
  const absl::Time end = absl::Now() + patience;
  while (!done()) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

std::vector<std::string> TemporaryFiles(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code gone;
  for (fs::recursive_directory_iterator at(folder, gone), end;
       !gone && at != end; at.increment(gone)) {
    if (at->path().extension() == ".tmp") found.push_back(at->path().string());
  }
  return found;
}

}  // namespace hawser::testing
