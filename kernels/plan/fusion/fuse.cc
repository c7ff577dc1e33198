#include "kernels/plan/fusion/fuse.h"

#include <algorithm>
#include <set>
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
    if (alone.size() == known) return groups;
  }
}

}  // namespace hawser::plan
