#include "client/fallback/breaker.h"

#include <algorithm>

#include "core/base/clock.h"

namespace hawser {
namespace {

// Whatever the policy says, probing must not keep a core busy.
constexpr absl::Duration kShortestWait = absl::Milliseconds(1);

}  // namespace

uint64_t Breaker::epoch() const {
  MutexLock lock(&mu_);
  return epoch_;
}

void Breaker::Trip(uint64_t epoch, const absl::Status& why) {
  {
    MutexLock lock(&mu_);
    if (epoch != epoch_ || IsOpen(epoch_)) return;
    ++epoch_;
  }
  if (options_.on_open) options_.on_open(why);
  ProbeAfter(options_.probe_first);
}

void Breaker::ProbeAfter(absl::Duration wait) {
  wait = std::max(wait, kShortestWait);
  alarm_.At(SteadyNow() + wait, [this, wait] {
    const bool back = options_.probe().ok();
    if (back && Close()) return;
    ProbeAfter(back ? kShortestWait
                    : std::min(2 * wait, options_.probe_longest));
  });
}

bool Breaker::Close() {
  MutexLock lock(&mu_);
  if (options_.settled && !options_.settled()) return false;
  ++epoch_;
  return true;
}

}  // namespace hawser
