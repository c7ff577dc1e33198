#include "kernels/plan/tiling/tiled_group.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/dot.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

// A product is large from so many tiles on, and from so many times as many if
// it is then computed more than once.
constexpr int64_t kTilesOfOne = 4;
constexpr int64_t kTilesOfSeveral = 32;
// So many times larger than what it is made of.
constexpr int64_t kGrowth = 2;
// The most small instructions between the parts of one group.
constexpr size_t kMostBetween = 24;

using Numbers = std::set<int>;  // of instructions

// A walk over one computation. A value is inner if it is a large product or
// computed from one element by element at about that size; an exit is an
// instruction that reads inner values and gives much smaller ones.
class GroupFinder {
 public:
  GroupFinder(const Computation& computation, const Target& target)
      : computation_(computation), target_(target) {}

  std::vector<TiledGroups> Find() {
    const auto all = computation_.instructions();
    for (size_t k = 0; k < all.size(); ++k) {
      if (IsRoot(all[k])) roots_.insert(static_cast<int>(k));
    }
    if (roots_.empty()) return {};
    Spread();
    std::vector<TiledGroups> found;
    for (const int root : roots_) {
      if (Family(root) != root || dead_.contains(root)) continue;
      TiledGroups groups = GroupsOf(root);
      if (!groups.empty()) found.push_back(std::move(groups));
    }
    return found;
  }

 private:
  const Instruction& At(int k) const { return computation_.instructions()[k]; }
  int Producer(ValueId v) const { return computation_.producer(v); }
  int64_t Elements(const Instruction& i) const {
    return computation_.shape(i.first_result).num_elements();
  }
  bool IsLoop(const Instruction& i) const {
    return i.op != &kParameter && i.num_results == 1 &&
           NodeOf(computation_, i).node == NodeClass::kLoop &&
           i.op != &kConstant;
  }

  bool IsRoot(const Instruction& i) const {
    if (i.op != &kDotGeneral || target_.tile_bytes <= 0) return false;
    const Shape& result = computation_.shape(i.first_result);
    if (result.byte_size() / kTilesOfOne < target_.tile_bytes) return false;
    int64_t factors = 0;
    for (const ValueId v : i.operands) {
      factors += computation_.shape(v).num_elements();
    }
    return result.num_elements() / kGrowth >= factors;
  }

  // ---- inner values ---------------------------------------------------------

  // Roots whose inner values meet are one family, named by the first.
  int Family(int root) const {
    for (;;) {
      const int parent = parents_.at(root);
      if (parent == root) return root;
      root = parent;
    }
  }
  int Join(int a, int b) {
    a = Family(a), b = Family(b);
    if (b < a) std::swap(a, b);
    parents_[b] = a;
    if (dead_.contains(b)) dead_.insert(a);
    return a;
  }
  // The family of an inner value; -1: it is none.
  int InnerFamily(ValueId v) const {
    const auto at = inner_.find(Producer(v));
    return at == inner_.end() ? -1 : Family(at->second);
  }

  void Spread() {
    const auto all = computation_.instructions();
    for (int k = *roots_.begin(); k < static_cast<int>(all.size()); ++k) {
      const Instruction& i = all[k];
      int family = -1;
      int64_t size = 0;  // of the inner values that it reads
      for (const ValueId v : i.operands) {
        const int of = InnerFamily(v);
        if (of < 0) continue;
        family = family < 0 ? of : Join(family, of);
        size = std::max(size, computation_.shape(v).num_elements());
      }
      if (family < 0) {
        if (roots_.contains(k)) parents_[k] = inner_[k] = k;
        continue;
      }
      const bool ends = Elements(i) * kGrowth <= size;
      if (IsLoop(i) && !ends) {
        inner_[k] = family;
      } else if (ends && (i.op == &kDotGeneral ||
                          NodeOf(computation_, i).node == NodeClass::kReduce)) {
        exits_[k] = family;
      } else {
        dead_.insert(Family(family));
      }
    }
    for (const ValueId v : computation_.results()) {
      if (const int family = InnerFamily(v); family >= 0) dead_.insert(family);
    }
  }

  // ---- groups ---------------------------------------------------------------

  // Constants, and what is computed from them alone at no cost: a loop computes
  // them again.
  bool IsFree(int k) const {
    const Instruction& i = At(k);
    if (i.op == &kConstant) return Elements(i) == 1;
    return IsLoop(i) && NodeOf(computation_, i).free &&
           absl::c_all_of(i.operands,
                          [&](ValueId v) { return IsFree(Producer(v)); });
  }
  // Adds to `cone` what `k` needs that is inner, of such a size without being
  // it, or free.
  void AddCone(int k, int64_t size, Numbers* cone) const {
    std::vector<int> left = {k};
    while (!left.empty()) {
      const int next = left.back();
      left.pop_back();
      if (!cone->insert(next).second) continue;
      for (const ValueId v : At(next).operands) {
        const int p = Producer(v);
        const bool large = IsLoop(At(p)) && Elements(At(p)) * kGrowth >= size;
        if (inner_.contains(p) || large || IsFree(p)) left.push_back(p);
      }
    }
  }

  // Of the instructions before `last`, those that need one of `of`.
  Numbers Readers(const Numbers& of, int last) const {
    Numbers readers;
    for (int k = *of.begin() + 1; k < last; ++k) {
      const bool reads = absl::c_any_of(At(k).operands, [&](ValueId v) {
        const int p = Producer(v);
        return of.contains(p) || readers.contains(p);
      });
      if (reads) readers.insert(k);
    }
    return readers;
  }
  // What stands between exits of a group and a cone that ends at `exit`; false
  // if that is more than small steps.
  bool FindBetween(const Numbers& exits, const Numbers& cone, int exit,
                   Numbers* between) const {
    const Numbers readers = Readers(exits, exit);
    Numbers seen;
    std::vector<int> left(cone.begin(), cone.end());
    while (!left.empty()) {
      const int k = left.back();
      left.pop_back();
      if (!seen.insert(k).second) continue;
      for (const ValueId v : At(k).operands) {
        const int p = Producer(v);
        if (!readers.contains(p) || cone.contains(p)) continue;
        if (exits.contains(p)) continue;
        if (!IsLoop(At(p)) || between->size() >= kMostBetween) return false;
        between->insert(p);
        left.push_back(p);
      }
    }
    return true;
  }

  struct Open {
    Numbers members, exits;
  };
  // Adds an exit and its cone to a group in which they fit.
  bool AddTo(Open& group, const Numbers& cone, int exit) const {
    const bool shares = absl::c_any_of(cone, [&](int k) {
      return inner_.contains(k) && group.members.contains(k);
    });
    if (!shares) return false;
    Numbers between;
    if (!FindBetween(group.exits, cone, exit, &between)) return false;
    for (const int k : Numbers(between)) {
      for (const ValueId v : At(k).operands) {
        if (IsFree(Producer(v))) AddCone(Producer(v), kNoSize, &between);
      }
    }
    group.members.insert(cone.begin(), cone.end());
    group.members.insert(between.begin(), between.end());
    group.exits.insert(exit);
    return true;
  }

  TiledGroups GroupsOf(int root) const {
    std::vector<Open> open;
    for (const auto& [exit, family] : exits_) {
      if (Family(family) != root) continue;
      Numbers cone;
      AddCone(exit, Elements(At(root)), &cone);
      bool added = false;
      for (size_t g = open.size(); g-- > 0 && !added;) {
        added = AddTo(open[g], cone, exit);
      }
      if (!added) open.push_back({std::move(cone), {exit}});
    }
    return PaysOff(root, open) ? Closed(open) : TiledGroups();
  }

  // Each group has a root, and none is computed again without need.
  bool PaysOff(int root, const std::vector<Open>& open) const {
    Numbers known;
    bool again = false;
    for (const Open& group : open) {
      bool any = false;
      for (const int k : roots_) {
        if (!group.members.contains(k)) continue;
        any = true;
        again |= !known.insert(k).second;
      }
      if (!any) return false;
    }
    const int64_t bytes = computation_.shape(At(root).first_result).byte_size();
    return !again || bytes / kTilesOfSeveral >= target_.tile_bytes;
  }

  TiledGroups Closed(const std::vector<Open>& open) const {
    TiledGroups groups;
    for (const Open& from : open) {
      TiledGroup group;
      group.instructions.assign(from.members.begin(), from.members.end());
      for (const int k : from.members) {
        for (const ValueId v : At(k).operands) {
          if (!from.members.contains(Producer(v))) group.takes.push_back(v);
        }
      }
      for (const int k : from.exits) {
        for (int r = 0; r < At(k).num_results; ++r) {
          const ValueId v = At(k).first_result + r;
          if (IsReadOutside(from, v)) group.gives.push_back(v);
        }
      }
      if (!group.gives.empty()) groups.push_back(std::move(group));
    }
    return groups;
  }
  bool IsReadOutside(const Open& group, ValueId v) const {
    if (absl::c_linear_search(computation_.results(), v)) return true;
    const auto all = computation_.instructions();
    for (size_t k = Producer(v) + 1; k < all.size(); ++k) {
      if (group.members.contains(static_cast<int>(k))) continue;
      if (absl::c_linear_search(all[k].operands, v)) return true;
    }
    return false;
  }

  static constexpr int64_t kNoSize = int64_t{1} << 62;

  const Computation& computation_;
  const Target& target_;
  Numbers roots_, dead_;  // dead: families of which more is read than exits
  std::map<int, int> parents_;        // of roots
  std::map<int, int> inner_, exits_;  // the root of each
};

}  // namespace

std::vector<TiledGroups> FindTiledGroups(const Computation& computation,
                                         const Target& target) {
  return GroupFinder(computation, target).Find();
}

}  // namespace hawser::plan
