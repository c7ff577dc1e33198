#include "server/access/connections/memory_watch.h"

#include <malloc.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/clock.h"

namespace hawser::server {
namespace {

// Trimming takes milliseconds, and the memory of a closed connection takes a
// moment to come free.
constexpr absl::Duration kBetweenTrims = absl::Milliseconds(40);

}  // namespace

int64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  long long size = 0, resident = 0;
  const int read = std::fscanf(file, "%lld %lld", &size, &resident);
  std::fclose(file);
  return read == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

MemoryWatch::MemoryWatch(const ConnectionLimits& limits)
    : limits_(limits),
      resident_(limits.resident == nullptr ? ResidentBytes : limits.resident) {}

bool MemoryWatch::IsShort(int64_t resident) const {
  // Buffers count early, since gRPC parses and copies what it has read even
  // after a close.
  return resident > limits_.resident_bytes ||
         (limits_.uncharged_bytes > 0 &&
          resident - limits_.charged() > limits_.uncharged_bytes);
}

MemoryWatch::Look MemoryWatch::Check(absl::Time now) {
  if (limits_.resident_bytes == 0) return {};
  int64_t resident = resident_();
  if (!IsShort(resident)) return {};
  const bool trims = now >= next_trim_;
  if (trims) {
    malloc_trim(0);
    next_trim_ = SteadyNow() + kBetweenTrims;
    resident = resident_();
    short_ = IsShort(resident);
  }
  return {short_, trims && resident > limits_.resident_bytes};
}

}  // namespace hawser::server
