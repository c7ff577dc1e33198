#include "server/session/executable_cache.h"

#include <utility>
#include <vector>

namespace hawser::server {

void ExecutableCache::Touch(Entry& entry) {
  order_.splice(order_.begin(), order_, entry.used);
}

ExecutableCache::Pointer ExecutableCache::Find(absl::string_view tenant,
                                               const Digest& fingerprint) {
  MutexLock lock(&mu_);
  auto at = entries_.find(fingerprint);
  if (at == entries_.end() || !at->second.tenants.contains(tenant)) {
    return nullptr;
  }
  Touch(at->second);
  return at->second.executable;
}

ExecutableCache::Pointer ExecutableCache::Join(absl::string_view tenant,
                                               const Digest& fingerprint) {
  MutexLock lock(&mu_);
  auto at = entries_.find(fingerprint);
  if (at == entries_.end()) return nullptr;
  at->second.tenants.emplace(tenant);
  Touch(at->second);
  return at->second.executable;
}

ExecutableCache::Pointer ExecutableCache::Add(absl::string_view tenant,
                                              const Digest& fingerprint,
                                              Pointer executable) {
  std::vector<Pointer> evicted;  // dies outside the lock
  MutexLock lock(&mu_);
  auto [at, fresh] = entries_.try_emplace(fingerprint);
  Entry& entry = at->second;
  entry.tenants.emplace(tenant);
  if (!fresh) {
    Touch(entry);
    return entry.executable;
  }
  entry.executable = executable;
  entry.used = order_.insert(order_.begin(), fingerprint);
  for (auto it = order_.end();
       entries_.size() > capacity_ && it != order_.begin();) {
    --it;
    auto old = entries_.find(*it);
    if (old->second.executable.use_count() > 1) continue;  // pinned
    evicted.push_back(std::move(old->second.executable));
    entries_.erase(old);
    it = order_.erase(it);
  }
  return executable;
}

size_t ExecutableCache::size() const {
  MutexLock lock(&mu_);
  return entries_.size();
}

}  // namespace hawser::server
