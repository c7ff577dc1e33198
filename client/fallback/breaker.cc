#include "client/fallback/breaker.h"

#include <algorithm>
#include <memory>

#include "core/base/clock.h"
#include "core/base/status.h"

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
    closed_ = std::make_shared<Promise<bool>>();
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
  std::shared_ptr<Promise<bool>> closed;
  {
    MutexLock lock(&mu_);
    if (options_.settled && !options_.settled()) return false;
    ++epoch_;
    closed.swap(closed_);
  }
  if (options_.on_close) options_.on_close();
  if (closed != nullptr) closed->Set(true);
  return true;
}

Future<bool> Breaker::Closed() const {
  MutexLock lock(&mu_);
  if (abandoned_) return Future<bool>(Cancelled("the client is gone"));
  return closed_ == nullptr ? Future<bool>(true) : closed_->future();
}

void Breaker::Abandon() {
  std::shared_ptr<Promise<bool>> closed;
  {
    MutexLock lock(&mu_);
    abandoned_ = true;
    closed.swap(closed_);
  }
  if (closed != nullptr) closed->Set(Cancelled("the client is gone"));
}

}  // namespace hawser
