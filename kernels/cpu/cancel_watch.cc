#include "kernels/cpu/cancel_watch.h"

#include <utility>

#include "absl/time/clock.h"

namespace hawser::cpu {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(2);

}  // namespace

void CancelWatch::Add(const CancelToken& token,
                      std::weak_ptr<Watched> watched) {
  MutexLock lock(&mu_);
  entries_.push_back({token, std::move(watched)});
  if (looking_) return;
  looking_ = true;
  alarm_.At(absl::Now() + kPeriod, [this] { Look(); });
}

void CancelWatch::Look() {
  std::vector<std::pair<std::shared_ptr<Watched>, absl::Status>> expired;
  {
    MutexLock lock(&mu_);
    size_t kept = 0;
    for (Entry& entry : entries_) {
      absl::Status status = entry.token.Check();
      if (status.ok()) {
        if (!entry.watched.expired()) entries_[kept++] = std::move(entry);
      } else if (auto watched = entry.watched.lock()) {
        expired.emplace_back(std::move(watched), std::move(status));
      }
    }
    entries_.resize(kept);
    looking_ = kept > 0;
    if (looking_) alarm_.At(absl::Now() + kPeriod, [this] { Look(); });
  }
  // Last: a callback may destroy the client, and this object with it.
  for (auto& [watched, status] : expired) watched->Expire(status);
}

}  // namespace hawser::cpu
