// FairLine: a line per flow of a tenant, and which of them is next.
#ifndef HAWSER_SERVER_SERVICE_QUEUE_FAIR_LINE_H_
#define HAWSER_SERVER_SERVICE_QUEUE_FAIR_LINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/string_view.h"

namespace hawser::server {

// Seconds had, 0 for a newcomer, the order of arrival, the name.
template <typename Name>
using FairLineKey = std::tuple<double, int, uint64_t, Name>;
// A flow of a tenant: its items in line, and its key while there are any.
template <typename Item>
struct FairLineFlow {
  double had = 0;
  int running = 0;
  FairLineKey<uint64_t> key;
  std::deque<Item> items;
};

// Tenants have flows, flows have items in line. Each has had so far a number of
// seconds; the next item is that of the tenant which has had the least, and
// there of the flow which has had the least. A newcomer is taken to have had as
// much as the last one served, or it would catch up on the time it was away;
// among equals it goes first. Invariant: a tenant or flow is in its `ready`
// exactly while items wait below it, under the key that it was put there with.
// Not thread-safe.
template <typename Item>
class FairLine {
 public:
  // Counts work of a flow that runs, `more` of it: tenants of which something
  // runs are remembered.
  void AddRunning(absl::string_view tenant, uint64_t flow, int more) {
    Tenant& own = TenantOf(tenant);
    own.running += more;
    own.flows[flow].running += more;
  }
  size_t size() const { return size_; }  // items in line
  size_t waiting(absl::string_view tenant) const {
    const auto at = tenants_.find(std::string(tenant));
    return at == tenants_.end() ? 0 : at->second.waiting;
  }

  // `first`: before what waits in that flow already.
  void Push(absl::string_view tenant, uint64_t flow, Item item, bool first) {
    Tenant& own = TenantOf(tenant);
    Flow& line = own.flows[flow];
    if (line.items.empty()) {
      line.had = std::max(line.had, own.now);
      line.key = {line.had, 0, ++arrivals_, flow};
      own.ready.insert(line.key);
    }
    ++size_;
    if (own.waiting++ == 0) {
      own.had = std::max(own.had, now_);
      own.key = {own.had, 0, ++arrivals_, own.name};
      ready_.insert(own.key);
    }
    line.items.insert(first ? line.items.begin() : line.items.end(),
                      std::move(item));
  }

  // The item that Pop would give; null: none.
  const Item* Front() const {
    if (ready_.empty()) return nullptr;
    const Tenant& own = tenants_.at(std::get<3>(*ready_.begin()));
    return &own.flows.at(std::get<3>(*own.ready.begin())).items.front();
  }
  // Takes the next item out: of the tenants' first items, in the tenants'
  // order, the first of which may(item, what runs of its tenant, what runs of
  // its flow) is true. False: there is none.
  template <typename May>
  bool Pop(const May& may, Item* item) {
    for (auto at = ready_.begin(); at != ready_.end(); ++at) {
      Tenant& own = tenants_.at(std::get<3>(*at));
      Flow& line = own.flows.at(std::get<3>(*own.ready.begin()));
      if (!may(line.items.front(), own.running, line.running)) continue;
      *item = std::move(line.items.front());
      line.items.pop_front();
      now_ = std::max(now_, own.had);
      own.now = std::max(own.now, line.had);
      Left(own, line);
      return true;
    }
    return false;
  }

  // Takes `item` out; false when it is not in that flow's line.
  bool Erase(absl::string_view tenant, uint64_t flow, const Item& item) {
    const auto own = tenants_.find(std::string(tenant));
    if (own == tenants_.end()) return false;
    const auto line = own->second.flows.find(flow);
    if (line == own->second.flows.end()) return false;
    if (std::erase(line->second.items, item) == 0) return false;
    Left(own->second, line->second);
    return true;
  }

  // Calls look(item) of each item, in no particular order.
  template <typename Look>
  void ForEach(const Look& look) const {
    for (const auto& [name, tenant] : tenants_) {
      for (const auto& [id, flow] : tenant.flows)
        std::for_each(flow.items.begin(), flow.items.end(), look);
    }
  }

  // The tenant and the flow have had `seconds` more.
  void Charge(absl::string_view tenant, uint64_t flow, double seconds) {
    Tenant& own = TenantOf(tenant);
    Flow& line = own.flows[flow];
    line.had += seconds;
    own.had += seconds;
    if (!line.items.empty()) {
      own.ready.erase(line.key);
      line.key = {line.had, 1, ++arrivals_, flow};
      own.ready.insert(line.key);
    }
    if (own.waiting > 0) {
      ready_.erase(own.key);
      own.key = {own.had, 1, ++arrivals_, own.name};
      ready_.insert(own.key);
    }
  }

  // When there are many, forgets those with nothing in line that owe nothing.
  void Prune() {
    for (auto at = tenants_.begin(); at != tenants_.end();) {
      Tenant& own = at->second;
      if (own.flows.size() >= 2 * own.ready.size() + kFew) {
        std::erase_if(own.flows, [&own](const auto& flow) {
          return flow.second.items.empty() && flow.second.running == 0 &&
                 flow.second.had <= own.now;
        });
      }
      const bool idle = own.waiting == 0 && own.running == 0;
      at = idle && own.had <= now_ && tenants_.size() > kFew
               ? tenants_.erase(at)
               : std::next(at);
    }
  }
  // Forgets all that was had. Only while nothing is in line or runs.
  void Clear() { *this = FairLine(); }

 private:
  static constexpr size_t kFew = 64;
  template <typename Name>
  using Key = FairLineKey<Name>;
  using Flow = FairLineFlow<Item>;
  struct Tenant {
    std::string name;
    double had = 0;
    double now = 0;  // of the flow that was served last
    Key<std::string> key;
    size_t waiting = 0;
    int running = 0;
    std::map<uint64_t, Flow> flows;
    absl::btree_set<Key<uint64_t>> ready;
  };

  Tenant& TenantOf(absl::string_view name) {
    Tenant& own = tenants_[std::string(name)];
    if (own.name.empty()) own.name = std::string(name);
    return own;
  }
  // An item of `line` is no longer in line.
  void Left(Tenant& own, Flow& line) {
    if (line.items.empty()) own.ready.erase(line.key);
    --size_;
    if (--own.waiting == 0) ready_.erase(own.key);
  }

  std::map<std::string, Tenant> tenants_;
  absl::btree_set<Key<std::string>> ready_;
  size_t size_ = 0;
  double now_ = 0;
  uint64_t arrivals_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_QUEUE_FAIR_LINE_H_
