#include "server/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace hawser::server {
namespace {

constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

// The number that is all of a file; kNone for "max" and for no such file.
int64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  int64_t number = 0;
  if (!(file >> word) || !absl::SimpleAtoi(word, &number)) return kNone;
  return number;
}

// The smallest limit of the group `path` of the hierarchy mounted at `mount`
// and of those above it. In a container the path may not be visible; the
// mount's own files are then those of the container's group.
int64_t SmallestLimit(const std::string& mount, std::string path,
                      absl::string_view file) {
  int64_t smallest = kNone;
  while (true) {
    smallest =
        std::min(smallest, NumberIn(absl::StrCat(mount, path, "/", file)));
    const size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return smallest;
    path.resize(slash);
  }
}

int64_t MachineBytes(const std::string& root) {
  std::ifstream info(root + "/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    int64_t kib = 0;
    if (words.size() >= 2 && words[0] == "MemTotal:" &&
        absl::SimpleAtoi(words[1], &kib)) {
      return kib << 10;
    }
  }
  return kNone;
}

bool HasMemory(absl::string_view controllers) {
  for (const absl::string_view one : absl::StrSplit(controllers, ',')) {
    if (one == "memory") return true;
  }
  return false;
}

int64_t CgroupBytes(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  int64_t smallest = kNone;
  // "0::/path" is version 2, "4:memory:/path" version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string path = parts[2] == "/" ? "" : parts[2];
    if (parts[0] == "0" && parts[1].empty()) {
      smallest = std::min(smallest, SmallestLimit(mount, path, "memory.max"));
    } else if (HasMemory(parts[1])) {
      smallest = std::min(smallest, SmallestLimit(mount + "/memory", path,
                                                  "memory.limit_in_bytes"));
    }
  }
  return smallest;
}

}  // namespace

int64_t MemoryToBeHad(const std::string& root) {
  const int64_t bytes = std::min(MachineBytes(root), CgroupBytes(root));
  return bytes == kNone ? 0 : bytes;
}

}  // namespace hawser::server
