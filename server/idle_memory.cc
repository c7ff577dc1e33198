#include "server/idle_memory.h"

#include <malloc.h>
#include <time.h>

#include "core/base/clock.h"
#include "server/access/connections/connection_guard.h"

namespace hawser::server {
namespace {

// Of a core; housekeeping takes less.
constexpr double kIdle = 0.05;
// Less is not worth the walk through the heap.
constexpr int64_t kWorth = 16 << 20;

absl::Duration ProcessorTime() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return absl::DurationFromTimespec(used);
}

}  // namespace

void IdleMemory::Look() {
  const absl::Time now = SteadyNow();
  const absl::Duration used = ProcessorTime();
  const bool idle = used - used_ < kIdle * (now - looked_);
  const bool first = looked_ == absl::InfinitePast();
  looked_ = now;
  used_ = used;
  if (first || !idle || ResidentBytes() < given_back_at_ + kWorth) return;
  let_go_();
  malloc_trim(0);
  given_back_at_ = ResidentBytes();
  used_ = ProcessorTime();
}

}  // namespace hawser::server
