// MemoryWatch: whether the process has so much memory that connections must go.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_MEMORY_WATCH_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_MEMORY_WATCH_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "server/access/connections/connection_limits.h"

namespace hawser::server {

// Bytes of memory this process has now.
int64_t ResidentBytes();

// Memory is short only if it is so right after what was freed has been given
// back to the kernel. Used by one thread, but for resident().
class MemoryWatch {
 public:
  struct Look {
    bool is_short = false;  // after the last trim, and now
    // The limit on the whole process is passed, found by a look that trimmed.
    bool is_over = false;
  };

  // `limits` outlives it.
  explicit MemoryWatch(const ConnectionLimits& limits);
  Look Check(absl::Time now);
  int64_t resident() const { return resident_(); }

 private:
  bool IsShort(int64_t resident) const;

  const ConnectionLimits& limits_;
  const std::function<int64_t()> resident_;
  absl::Time next_trim_ = absl::InfinitePast();
  bool short_ = false;  // after the last trim
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_MEMORY_WATCH_H_
