#include "server/session/executable_cache.h"

#include <utility>
#include <vector>

namespace hawser::server {

void ExecutableCache::Touch(Entry& entry) {
  order_.splice(order_.begin(), order_, entry.used);
}

ExecutableCache::Entry* ExecutableCache::Shared(const Digest& fingerprint) {
  ++shared_lookups_;
  auto at = entries_.find(fingerprint);
  return at == entries_.end() ? nullptr : &at->second;
}

void ExecutableCache::Know(absl::string_view tenant, const Digest& fingerprint,
                           Entry& entry) {
  entry.tenants.emplace(tenant);
  known_[tenant].insert(fingerprint);
}

ExecutableCache::Pointer ExecutableCache::Find(absl::string_view tenant,
                                               const Digest& fingerprint) {
  MutexLock lock(&mu_);
  auto own = known_.find(tenant);
  if (own == known_.end() || !own->second.contains(fingerprint)) {
    return nullptr;
  }
  Entry* entry = Shared(fingerprint);
  Touch(*entry);
  return entry->executable;
}

ExecutableCache::Pointer ExecutableCache::Join(absl::string_view tenant,
                                               const Digest& fingerprint) {
  MutexLock lock(&mu_);
  Entry* entry = Shared(fingerprint);
  if (entry == nullptr) return nullptr;
  Know(tenant, fingerprint, *entry);
  Touch(*entry);
  return entry->executable;
}

ExecutableCache::Pointer ExecutableCache::Add(absl::string_view tenant,
                                              const Digest& fingerprint,
                                              Pointer executable) {
  std::vector<Pointer> evicted;  // dies outside the lock
  MutexLock lock(&mu_);
  if (Entry* entry = Shared(fingerprint)) {
    Know(tenant, fingerprint, *entry);
    Touch(*entry);
    return entry->executable;
  }
  Entry& entry = entries_[fingerprint];
  Know(tenant, fingerprint, entry);
  entry.executable = executable;
  entry.used = order_.insert(order_.begin(), fingerprint);
  evicted = Evict(capacity_);
  return executable;
}

std::vector<ExecutableCache::Pointer> ExecutableCache::Evict(
    size_t capacity) {
  std::vector<Pointer> evicted;
  for (auto it = order_.end();
       entries_.size() > capacity && it != order_.begin();) {
    --it;
    auto old = entries_.find(*it);
    if (old->second.executable.use_count() > 1) continue;  // pinned
    for (const std::string& tenant : old->second.tenants) {
      auto known = known_.find(tenant);
      known->second.erase(*it);
      if (known->second.empty()) known_.erase(known);
    }
    evicted.push_back(std::move(old->second.executable));
    entries_.erase(old);
    it = order_.erase(it);
  }
  return evicted;
}

void ExecutableCache::LetGo() {
  std::vector<Pointer> evicted;  // dies after the lock
  MutexLock lock(&mu_);
  evicted = Evict(0);
}

size_t ExecutableCache::size() const {
  MutexLock lock(&mu_);
  return entries_.size();
}

int64_t ExecutableCache::shared_lookups() const {
  MutexLock lock(&mu_);
  return shared_lookups_;
}

}  // namespace hawser::server
