// LruMap: a bounded map that forgets what was used longest ago.
#ifndef HAWSER_CLIENT_SDK_GRAPH_RUN_LRU_MAP_H_
#define HAWSER_CLIENT_SDK_GRAPH_RUN_LRU_MAP_H_

#include <cstddef>
#include <list>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace hawser::sdk {

// Not thread-safe.
template <typename Key, typename Value>
class LruMap {
 public:
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // nullptr when it is not there; good until the next Put.
  Value* Find(const Key& key) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at->second);
    return &at->second->second;
  }
  void Put(const Key& key, Value value) {
    if (Value* known = Find(key)) {
      *known = std::move(value);
      return;
    }
    entries_.emplace_front(key, std::move(value));
    by_key_[key] = entries_.begin();
    if (entries_.size() <= capacity_) return;
    by_key_.erase(entries_.back().first);
    entries_.pop_back();
  }
  void Erase(const Key& key) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) return;
    entries_.erase(at->second);
    by_key_.erase(at);
  }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  const size_t capacity_;
  Entries entries_;  // latest first
  absl::flat_hash_map<Key, typename Entries::iterator> by_key_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_RUN_LRU_MAP_H_
