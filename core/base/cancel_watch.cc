#include "core/base/cancel_watch.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"

namespace hawser {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(2);

}  // namespace

void CancelWatch::Add(const CancelToken& token,
                      std::weak_ptr<Watched> watched) {
  MutexLock lock(&mu_);
  entries_.push_back({token, std::move(watched)});
  if (looking_) return;
  looking_ = true;
  alarm_.At(SteadyNow() + kPeriod, [this] { Look(); });
}

void CancelWatch::Look() {
  std::vector<std::pair<std::shared_ptr<Watched>, absl::Status>> expired;
  {
    MutexLock lock(&mu_);
    // remove_if moves no entry onto itself, which would empty its weak_ptr.
    const auto kept = std::remove_if(
        entries_.begin(), entries_.end(), [&expired](const Entry& entry) {
          absl::Status status = entry.token.Check();
          if (status.ok()) return entry.watched.expired();
          if (auto watched = entry.watched.lock()) {
            expired.emplace_back(std::move(watched), std::move(status));
          }
          return true;
        });
    entries_.erase(kept, entries_.end());
    looking_ = !entries_.empty();
    if (looking_) alarm_.At(SteadyNow() + kPeriod, [this] { Look(); });
  }
  // Last: a callback may destroy the client, and this object with it.
  for (auto& [watched, status] : expired) watched->Expire(status);
}

}  // namespace hawser
