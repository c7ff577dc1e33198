#include "server/idle_memory.h"

#include <malloc.h>
#include <time.h>

#include <algorithm>

#include "core/base/clock.h"
#include "server/access/connections/connection_guard.h"

namespace hawser::server {
namespace {

// The share of a core below which the process is idle; housekeeping takes less.
constexpr double kIdle = 0.05;
// Growth of this size, which little work may add up to, is worth a walk through
// the heap.
constexpr int64_t kWorth = 16 << 20;

absl::Duration ProcessorTime() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return absl::DurationFromTimespec(used);
}

}  // namespace

IdleMemory::Process IdleMemory::ThisProcess() {
  return {SteadyNow, ProcessorTime, ResidentBytes, [] { malloc_trim(0); }};
}

void IdleMemory::Look() {
  const absl::Time now = process_.now();
  const absl::Duration used = process_.used();
  const bool idle = used - used_ < kIdle * (now - looked_);
  const bool first = looked_ == absl::InfinitePast();
  looked_ = now;
  used_ = used;
  const int64_t resident = process_.resident();
  least_ = first ? resident : std::min(least_, resident);
  if (first) return;
  worked_ = worked_ || !idle;
  if (!idle || (!worked_ && resident < least_ + kWorth)) return;
  let_go_();
  process_.trim();
  worked_ = false;
  least_ = process_.resident();
  used_ = process_.used();
}

}  // namespace hawser::server
