#include "server/access/connections/suspects.h"

#include <algorithm>

namespace hawser::server {
namespace {

constexpr absl::Duration kLeastGap = absl::Milliseconds(50);
constexpr absl::Duration kMostGap = absl::Seconds(1);
constexpr absl::Duration kSuspectFor = absl::Seconds(30);
constexpr size_t kMostSuspects = 1024;

}  // namespace

void Suspects::MakeRoom(absl::Time now) {
  if (suspects_.size() < kMostSuspects) return;
  absl::erase_if(suspects_, [&](const auto& suspect) {
    return now - suspect.second.closed > kSuspectFor;
  });
  if (suspects_.size() < kMostSuspects) return;
  suspects_.erase(std::min_element(suspects_.begin(), suspects_.end(),
                                   [](const auto& a, const auto& b) {
                                     return a.second.closed < b.second.closed;
                                   }));
}

void Suspects::Add(absl::string_view host, absl::Time now) {
  if (!suspects_.contains(host)) MakeRoom(now);
  Suspect& suspect = suspects_[host];
  suspect.gap = std::clamp(2 * suspect.gap, kLeastGap, kMostGap);
  suspect.closed = now;
  suspect.next = std::max(suspect.next, now + suspect.gap);
}

std::optional<absl::Time> Suspects::NextSlot(absl::string_view host,
                                             absl::Time now) {
  const auto at = suspects_.find(host);
  if (at == suspects_.end()) return now;
  Suspect& suspect = at->second;
  if (now - suspect.closed > kSuspectFor) {
    suspects_.erase(at);
    return now;
  }
  const absl::Time slot = std::max(now, suspect.next);
  if (slot - now > kSuspectFor) return std::nullopt;
  suspect.next = slot + suspect.gap;
  return slot;
}

}  // namespace hawser::server
