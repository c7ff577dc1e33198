#include "server/session/executable_cache.h"

#include <iterator>
#include <utility>
#include <vector>

namespace hawser::server {

ExecutableCache::Entry* ExecutableCache::Shared(const Digest& fingerprint) {
  ++shared_lookups_;
  auto at = entries_.find(fingerprint);
  return at == entries_.end() ? nullptr : &at->second;
}

void ExecutableCache::Know(absl::string_view tenant, const Digest& fingerprint,
                           Entry& entry) {
  entry.tenants.emplace(tenant);
  Known& known = known_[tenant];
  auto [at, added] = known.places.try_emplace(fingerprint);
  if (added) {
    at->second = known.order.insert(known.order.begin(), fingerprint);
  } else {
    known.order.splice(known.order.begin(), known.order, at->second);
  }
}

ExecutableCache::Pointer ExecutableCache::Find(absl::string_view tenant,
                                               const Digest& fingerprint) {
  MutexLock lock(&mu_);
  auto own = known_.find(tenant);
  if (own == known_.end() || !own->second.places.contains(fingerprint)) {
    return nullptr;
  }
  Entry* entry = Shared(fingerprint);
  Know(tenant, fingerprint, *entry);
  return entry->executable;
}

ExecutableCache::Pointer ExecutableCache::Join(absl::string_view tenant,
                                               const Digest& fingerprint) {
  MutexLock lock(&mu_);
  Entry* entry = Shared(fingerprint);
  if (entry == nullptr) return nullptr;
  Know(tenant, fingerprint, *entry);
  return entry->executable;
}

ExecutableCache::Pointer ExecutableCache::Add(absl::string_view tenant,
                                              const Digest& fingerprint,
                                              Pointer executable) {
  std::vector<Pointer> evicted;  // dies outside the lock
  MutexLock lock(&mu_);
  if (Entry* entry = Shared(fingerprint)) {
    Know(tenant, fingerprint, *entry);
    return entry->executable;
  }
  Entry& entry = entries_[fingerprint];
  Know(tenant, fingerprint, entry);
  entry.executable = executable;
  evicted = Evict(capacity_);
  return executable;
}

std::vector<ExecutableCache::Pointer> ExecutableCache::Evict(
    size_t capacity) {
  std::vector<Pointer> evicted;
  absl::flat_hash_set<std::string> pinned;  // tenants with nothing else
  while (entries_.size() > capacity) {
    const std::string* most = nullptr;
    size_t count = capacity / known_.size();  // an equal share
    for (const auto& [tenant, known] : known_) {
      if (known.places.size() <= count || pinned.contains(tenant)) continue;
      most = &tenant;
      count = known.places.size();
    }
    if (most == nullptr) break;
    const std::string tenant = *most;
    if (!ForgetOne(tenant, &evicted)) pinned.insert(tenant);
  }
  return evicted;
}

bool ExecutableCache::ForgetOne(const std::string& tenant,
                                std::vector<Pointer>* evicted) {
  const auto own = known_.find(tenant);
  Known& known = own->second;
  for (auto it = known.order.rbegin(); it != known.order.rend(); ++it) {
    const auto entry = entries_.find(*it);
    if (entry->second.executable.use_count() > 1) continue;  // pinned
    entry->second.tenants.erase(tenant);
    if (entry->second.tenants.empty()) {
      evicted->push_back(std::move(entry->second.executable));
      entries_.erase(entry);
    }
    known.places.erase(*it);
    known.order.erase(std::next(it).base());
    if (known.places.empty()) known_.erase(own);
    return true;
  }
  return false;
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
