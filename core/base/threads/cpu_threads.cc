#include "core/base/threads/cpu_threads.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/base/log.h"

namespace hawser {
namespace {

constexpr int kMostThreads = 1024;

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Processors' worth of time; null: as much as there is.
std::optional<int> Quota(absl::string_view quota, absl::string_view period) {
  int64_t used = 0, of = 0;
  if (!absl::SimpleAtoi(quota, &used) || !absl::SimpleAtoi(period, &of) ||
      used <= 0 || of <= 0) {
    return std::nullopt;
  }
  const int64_t processors = used / of + (used % of != 0 ? 1 : 0);
  return static_cast<int>(std::min<int64_t>(processors, kMostThreads));
}

int Processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(CPU_COUNT(&set), 1);
  }
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

// The process's own group below the root that is mounted here, or the root
// itself where the group is not in sight, as in containers. `controller`: empty
// for version 2.
std::string GroupFile(absl::string_view controller, const std::string& file) {
  const std::string root =
      absl::StrCat("/sys/fs/cgroup", controller.empty() ? "" : "/", controller);
  for (const absl::string_view line :
       absl::StrSplit(TextOf("/proc/self/cgroup"), '\n')) {
    const std::vector<absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    bool is_it = controller.empty() && parts[1].empty();
    for (const absl::string_view c : absl::StrSplit(parts[1], ',')) {
      is_it = is_it || (!controller.empty() && c == controller);
    }
    if (!is_it) continue;
    std::string text = TextOf(absl::StrCat(root, parts[2], "/", file));
    if (!text.empty()) return text;
  }
  return TextOf(absl::StrCat(root, "/", file));
}

}  // namespace

std::optional<int> ParseCpuThreads(absl::string_view wish) {
  int threads = 0;
  if (!absl::SimpleAtoi(wish, &threads) || threads < 1 ||
      threads > kMostThreads) {
    return std::nullopt;
  }
  return threads;
}

int CpuThreads(const CpuLimits& limits) {
  if (limits.wish != nullptr) {
    if (const auto threads = ParseCpuThreads(limits.wish)) return *threads;
  }
  int threads = std::clamp(limits.processors, 1, kMostThreads);
  const std::vector<absl::string_view> both =
      absl::StrSplit(limits.cpu_max, absl::ByAnyChar(" \n"));
  if (both.size() >= 2) {
    threads = std::min(threads, Quota(both[0], both[1]).value_or(threads));
  }
  return std::min(threads,
                  Quota(limits.quota, limits.period).value_or(threads));
}

int CpuThreads() {
  static const int threads = [] {
    const char* wish = std::getenv("HAWSER_CPU_THREADS");
    if (wish != nullptr && !ParseCpuThreads(wish)) {
      HAWSER_LOG(kWarning) << "HAWSER_CPU_THREADS=" << wish
                           << " is no whole number from 1 to " << kMostThreads
                           << "; it is left out";
    }
    const std::string cpu_max = GroupFile("", "cpu.max");
    const std::string quota = GroupFile("cpu", "cpu.cfs_quota_us");
    const std::string period = GroupFile("cpu", "cpu.cfs_period_us");
    return CpuThreads({.wish = wish,
                       .processors = Processors(),
                       .cpu_max = cpu_max,
                       .quota = quota,
                       .period = period});
  }();
  return threads;
}

void ThreadPlace::Leave() {
  if (thread_ == 0) thread_ = gettid();
  core_ = sched_getcpu();
}

bool ThreadPlace::IsHere() const { return core_ == sched_getcpu(); }

void ThreadPlace::Avoid() {
  if (sched_getaffinity(thread_, sizeof(allowed_), &allowed_) != 0) return;
  cpu_set_t others = allowed_;
  CPU_CLR(core_, &others);
  // If it may not, the kernel decides.
  avoids_ = CPU_COUNT(&others) > 0 &&
            sched_setaffinity(thread_, sizeof(others), &others) == 0;
}

void ThreadPlace::Return() {
  if (!avoids_) return;
  avoids_ = false;
  sched_setaffinity(thread_, sizeof(allowed_), &allowed_);
}

}  // namespace hawser
