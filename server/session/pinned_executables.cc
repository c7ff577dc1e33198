#include "server/session/pinned_executables.h"

#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser::server {

absl::Status PinnedExecutables::Set(uint64_t name, const Digest& fingerprint,
                                    Result executable) {
  if (name == 0) return InvalidArgument("executable 0 is not a number for one");
  MutexLock lock(&mu_);
  HAWSER_RETURN_IF_ERROR(closed_);
  auto at = executables_.find(name);
  if (at == executables_.end()) {
    if (static_cast<int64_t>(executables_.size()) >= most_) {
      return ResourceExhausted("the session's limit of ", most_,
                               " executables");
    }
    executables_.emplace(name, Pinned{fingerprint, std::move(executable)});
    return absl::OkStatus();
  }
  Pinned& pinned = at->second;
  if (pinned.executable.ok() && pinned.fingerprint != fingerprint) {
    return InvalidArgument("executable ", name,
                           " is in use for another module");
  }
  // A repeat, or a second try after a failed one.
  if (!pinned.executable.ok()) pinned = {fingerprint, std::move(executable)};
  return absl::OkStatus();
}

std::optional<PinnedExecutables::Result> PinnedExecutables::Find(
    uint64_t name) const {
  MutexLock lock(&mu_);
  auto at = executables_.find(name);
  if (at == executables_.end()) return std::nullopt;
  return at->second.executable;
}

void PinnedExecutables::Release(absl::Span<const uint64_t> numbers) {
  std::vector<Pinned> gone;  // dies outside the lock
  MutexLock lock(&mu_);
  for (uint64_t number : numbers) {
    auto at = executables_.find(number);
    if (at == executables_.end()) continue;
    gone.push_back(std::move(at->second));
    executables_.erase(at);
  }
}

void PinnedExecutables::Close(const absl::Status& why) {
  absl::flat_hash_map<uint64_t, Pinned> gone;  // dies outside the lock
  MutexLock lock(&mu_);
  closed_ = why;
  gone.swap(executables_);
}

}  // namespace hawser::server
