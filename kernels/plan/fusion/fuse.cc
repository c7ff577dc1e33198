#include "kernels/plan/fusion/fuse.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/ir/leaves.h"
#include "core/ops/contraction/dot.h"
#include "kernels/plan/fusion/dot_layout.h"
#include "kernels/plan/fusion/loop_fusion.h"
#include "kernels/plan/fusion/reduction_fusion.h"
#include "kernels/plan/region/epilogue.h"

namespace hawser::plan {
namespace {

// Says which instruction belongs to the tail of which product. Invariant: a
// tail's exit is placed before its other members, since instructions are placed
// backwards; the tail's group is made then.
class ProductTails {
 public:
  // The products of `alone` take nothing along.
  ProductTails(const Computation& c, const Target& target,
               const std::set<int>& alone)
      : exit_of_(c.instructions().size(), -1),
        group_of_exit_(c.instructions().size(), -1) {
    if (target.epilogues == EpilogueSupport::kNone || !HasProducts(c)) return;
    std::vector<absl::InlinedVector<int, 2>> users(c.num_values());
    std::vector<bool> is_result(c.num_values(), false);
    for (size_t k = 0; k < c.instructions().size(); ++k) {
      for (const ValueId v : c.instructions()[k].operands) {
        if (users[v].empty() || users[v].back() != static_cast<int>(k)) {
          users[v].push_back(static_cast<int>(k));
        }
      }
    }
    for (const ValueId v : c.results()) is_result[v] = true;
    for (const DotTail& t : FindDotTails(c, target, users, is_result, alone)) {
      for (const int m : t.members) exit_of_[m] = t.exit;
    }
  }

  bool Contains(int instruction) const { return exit_of_[instruction] >= 0; }

  // Places an instruction that a tail contains in the tail's group.
  void Place(int instruction, Groups* groups) {
    const int exit = exit_of_[instruction];
    if (exit == instruction) {
      group_of_exit_[exit] = groups->AddDot(exit);
    } else {
      groups->Inline(instruction, group_of_exit_[exit]);
    }
  }

 private:
  std::vector<int> exit_of_;  // by instruction; -1: in no tail
  std::vector<GroupId> group_of_exit_;
};

// Joins loops over the same sizes that wait for nothing of each other, where
// they are so small that to begin a region takes longer than to run it.
class SmallLoops {
 public:
  explicit SmallLoops(Groups* groups) : groups_(*groups) {}

  void Join() {
    int small = 0;
    for (GroupId g = 0; g < groups_.size(); ++g) {
      small += IsSmall(groups_.group(g)) ? 1 : 0;
    }
    if (small < 2) return;
    // Groups of one level wait for nothing of each other, whether levels are
    // counted from the results or from the arguments. What a loop carries is
    // joined by the first, what waits for arguments alone by the second.
    for (const bool from_results : {true, false}) {
      const std::vector<int> level = Levels(from_results);
      std::map<std::pair<int, Dims>, GroupId> open;
      std::vector<GroupId> into(groups_.size());
      std::vector<Size> sizes(groups_.size());
      bool any = false;
      for (GroupId g = 0; g < groups_.size(); ++g) {
        into[g] = g;
        if (!IsSmall(groups_.group(g))) continue;
        sizes[g] = SizeOf(groups_.group(g));
        const auto [at, is_new] =
            open.try_emplace({level[g], groups_.group(g).points->domain()}, g);
        if (is_new) continue;
        if (HaveRoom(sizes[g], sizes[at->second])) {
          into[g] = at->second;
          sizes[at->second].Add(sizes[g]);
          any = true;
        } else {
          at->second = g;
        }
      }
      if (any) groups_.Join(into);
    }
  }

 private:
  struct Size {
    size_t members = 0, buffers = 0, points = 0;

    void Add(const Size& other) {
      members += other.members;
      buffers += other.buffers;
      points += other.points;
    }
  };

  // A constant is memory, no loop.
  bool IsSmall(const Group& group) const {
    const Instruction& first =
        groups_.computation().instructions()[group.members.front()];
    return group.points != nullptr && !group.is_dot && !group.reduction &&
           first.op != &kConstant &&
           ElementsOf(group.points->domain()) <=
               groups_.target().joined_elements;
  }
  static Size SizeOf(const Group& group) {
    // A group that was joined has the points of one; their number is about that
    // of the members.
    return {group.members.size(), group.reads.size() + group.outputs.size(),
            std::max(group.points->points().size(), group.members.size())};
  }
  bool HaveRoom(const Size& a, const Size& b) const {
    const Target& target = groups_.target();
    return a.members + b.members <=
               static_cast<size_t>(target.max_instructions) &&
           a.buffers + b.buffers <= static_cast<size_t>(target.max_buffers) &&
           a.points + b.points <= static_cast<size_t>(target.max_points);
  }

  // Counts, for each group, the most groups that wait for it one after the other,
  // or that it waits for.
  std::vector<int> Levels(bool from_results) const {
    const size_t count = groups_.size();
    struct Edge {
      GroupId from, to;
    };
    std::vector<Edge> edges;
    for (GroupId maker = 0; maker < groups_.size(); ++maker) {
      for (const ValueId v : groups_.group(maker).outputs) {
        for (const GroupId reader : groups_.ReadersOf(v)) {
          edges.push_back(from_results ? Edge{reader, maker}
                                       : Edge{maker, reader});
        }
      }
    }
    // Edges are put in the order of the groups that they come from.
    std::vector<int> missing(count, 0), level(count, 0), begin(count + 1, 0);
    for (const Edge& edge : edges) {
      ++missing[edge.to];
      ++begin[edge.from + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<GroupId> next(edges.size());
    std::vector<int> at(begin.begin(), begin.end() - 1);
    for (const Edge& edge : edges) next[at[edge.from]++] = edge.to;
    std::vector<GroupId> ready;
    for (GroupId g = 0; g < groups_.size(); ++g) {
      if (missing[g] == 0) ready.push_back(g);
    }
    while (!ready.empty()) {
      const GroupId g = ready.back();
      ready.pop_back();
      for (int k = begin[g]; k < begin[g + 1]; ++k) {
        const GroupId to = next[k];
        level[to] = std::max(level[to], level[g] + 1);
        if (--missing[to] == 0) ready.push_back(to);
      }
    }
    return level;
  }

  Groups& groups_;
};

bool IsUsed(const Groups& groups, const Instruction& i) {
  for (int k = 0; k < i.num_results; ++k) {
    const ValueId v = i.first_result + k;
    if (groups.IsResult(v) || !groups.ReadersOf(v).empty()) return true;
  }
  return false;
}

// One walk over the instructions, backwards: each is placed after its readers.
Groups FuseOnce(const Computation& c, const Target& target,
                const std::set<int>& alone) {
  Groups groups(c, target);
  ProductTails tails(c, target, alone);
  LoopFusion loops(&groups);
  ReductionFusion reductions(&groups);
  for (int k = static_cast<int>(c.instructions().size()); k-- > 0;) {
    const Instruction& i = c.instructions()[k];
    if (i.op == &kParameter || !IsUsed(groups, i)) continue;
    const NodeClass node = groups.row(k).node;
    if (tails.Contains(k)) {
      tails.Place(k, &groups);
    } else if (node == NodeClass::kLoop) {
      loops.Place(k);
    } else if (node == NodeClass::kReduce) {
      reductions.Place(k);
    } else {
      groups.AddAlone(k);
    }
  }
  return groups;
}

// The product of a group that no library computes as the group came out: for
// want of room the group does not read what the tail was found to read. Returns
// -1 where a library has a call for the group.
int RefusedProduct(const Computation& c, const Target& target,
                   const Group& group) {
  const std::vector<int> members(group.members.rbegin(), group.members.rend());
  int dot = -1;
  for (const int m : members) {
    if (c.instructions()[m].op == &kDotGeneral) dot = m;
  }
  const int exit = c.producer(group.outputs[0]);
  if (dot < 0 || dot == exit) return -1;
  const auto call = CallOfGroup(c, dot, exit, members);
  return call && target.Takes(*call) ? -1 : dot;
}

}  // namespace

Groups FuseComputation(const Computation& computation, const Target& target) {
  std::set<int> alone;
  while (true) {
    Groups groups = FuseOnce(computation, target, alone);
    const size_t known = alone.size();
    for (GroupId g = 0; g < groups.size(); ++g) {
      const Group& group = groups.group(g);
      if (!group.is_dot || target.epilogues != EpilogueSupport::kTable) {
        continue;
      }
      const int dot = RefusedProduct(computation, target, group);
      if (dot >= 0) alone.insert(dot);
    }
    if (alone.size() != known) continue;
    if (target.joined_elements > 0) SmallLoops(&groups).Join();
    return groups;
  }
}

}  // namespace hawser::plan
