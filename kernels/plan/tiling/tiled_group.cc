#include "kernels/plan/tiling/tiled_group.h"

#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/ir/leaves.h"
#include "kernels/plan/region/node_table.h"
#include "kernels/plan/tiling/inner_values.h"

namespace hawser::plan {
namespace {

// A product that is computed more than once is large from so many tiles on.
constexpr int64_t kTilesOfSeveral = 32;
// The most small instructions between the parts of one group.
constexpr size_t kMostBetween = 24;

struct Open {
  Numbers members, exits;
};

bool IsReadOutside(const Computation& computation, const Numbers& members,
                   ValueId v) {
  if (absl::c_linear_search(computation.results(), v)) return true;
  const auto all = computation.instructions();
  for (size_t k = computation.producer(v) + 1; k < all.size(); ++k) {
    if (members.contains(static_cast<int>(k))) continue;
    if (absl::c_linear_search(all[k].operands, v)) return true;
  }
  return false;
}

TiledGroup Closed(const Computation& computation, const Open& from) {
  const auto all = computation.instructions();
  TiledGroup group;
  group.instructions.assign(from.members.begin(), from.members.end());
  for (const int k : from.members) {
    for (const ValueId v : all[k].operands) {
      if (!from.members.contains(computation.producer(v))) {
        group.takes.push_back(v);
      }
    }
  }
  for (const int k : from.exits) {
    for (int r = 0; r < all[k].num_results; ++r) {
      const ValueId v = all[k].first_result + r;
      if (IsReadOutside(computation, from.members, v)) group.gives.push_back(v);
    }
  }
  return group;
}

// Forms the groups of families that have no other readers.
class GroupFinder {
 public:
  GroupFinder(const Computation& computation, const Target& target)
      : computation_(computation),
        target_(target),
        values_(computation, target) {}

  std::vector<TiledGroups> Find() const {
    std::vector<TiledGroups> found;
    for (const int root : values_.roots()) {
      if (values_.Family(root) != root || values_.IsDead(root)) continue;
      TiledGroups groups = GroupsOf(root);
      if (!groups.empty()) found.push_back(std::move(groups));
    }
    return found;
  }

 private:
  const Instruction& At(int k) const { return computation_.instructions()[k]; }
  int Producer(ValueId v) const { return computation_.producer(v); }
  // Constants, and what is computed from them alone at no cost: a loop computes
  // them again.
  bool IsFree(int k) const {
    const Instruction& i = At(k);
    if (i.op == &kConstant) return values_.Elements(k) == 1;
    return values_.IsLoop(k) && NodeOf(computation_, i).free &&
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
        const bool large = values_.IsLoop(p) &&
                           values_.Elements(p) * InnerValues::kMuch >= size;
        if (values_.IsInner(p) || large || IsFree(p)) left.push_back(p);
      }
    }
  }

  // The instructions before `last` that need one of `of`.
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
        if (!values_.IsLoop(p) || between->size() >= kMostBetween) return false;
        between->insert(p);
        left.push_back(p);
      }
    }
    return true;
  }

  // Adds an exit and its cone to a group in which they fit.
  bool AddTo(Open& group, const Numbers& cone, int exit) const {
    const bool shares = absl::c_any_of(cone, [&](int k) {
      return values_.IsInner(k) && group.members.contains(k);
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
    for (const auto& [exit, family] : values_.exits()) {
      if (values_.Family(family) != root) continue;
      Numbers cone;
      AddCone(exit, values_.Elements(root), &cone);
      bool added = false;
      for (size_t g = open.size(); g-- > 0 && !added;) {
        added = AddTo(open[g], cone, exit);
      }
      if (!added) open.push_back({std::move(cone), {exit}});
    }
    TiledGroups groups;
    if (!PaysOff(root, open)) return groups;
    for (const Open& group : open) {
      groups.push_back(Closed(computation_, group));
      if (groups.back().gives.empty()) groups.pop_back();
    }
    return groups;
  }

  // Each group has a root, and none is computed again without need.
  bool PaysOff(int root, const std::vector<Open>& open) const {
    Numbers known;
    bool again = false;
    for (const Open& group : open) {
      bool any = false;
      for (const int k : values_.roots()) {
        if (!group.members.contains(k)) continue;
        any = true;
        again |= !known.insert(k).second;
      }
      if (!any) return false;
    }
    const int64_t bytes = computation_.shape(At(root).first_result).byte_size();
    return !again || bytes / kTilesOfSeveral >= target_.tile_bytes;
  }

  static constexpr int64_t kNoSize = int64_t{1} << 62;

  const Computation& computation_;
  const Target& target_;
  const InnerValues values_;
};

}  // namespace

std::vector<TiledGroups> FindTiledGroups(const Computation& computation,
                                         const Target& target) {
  return GroupFinder(computation, target).Find();
}

}  // namespace hawser::plan
