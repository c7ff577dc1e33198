// Which instruction goes where: inlined into the group that reads it, written
// out by that group for others, computed twice, or a kernel of its own.
#include "kernels/plan/fuse.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/ir/leaves.h"
#include "core/ops/dot.h"
#include "core/ops/shape.h"
#include "kernels/plan/epilogue.h"
#include "kernels/plan/fusion_cost.h"

namespace hawser::plan {
namespace {

class Fuser {
 public:
  // The products of `alone` take nothing along.
  Fuser(const Computation& computation, const Target& target,
        const std::set<int>& alone)
      : c_(computation),
        target_(target),
        alone_(alone),
        groups_(computation, target),
        cost_(groups_) {}

  Groups Run() {
    ClaimTails();
    for (size_t k = c_.instructions().size(); k-- > 0;) {
      Decide(static_cast<int>(k));
    }
    return std::move(groups_);
  }

 private:
  using GroupIds = absl::InlinedVector<GroupId, 2>;

  void ClaimTails() {
    claim_.assign(c_.instructions().size(), -1);
    if (target_.epilogues == EpilogueSupport::kNone) return;
    std::vector<absl::InlinedVector<int, 2>> users(c_.num_values());
    std::vector<bool> is_result(c_.num_values(), false);
    for (size_t k = 0; k < c_.instructions().size(); ++k) {
      for (const ValueId v : c_.instructions()[k].operands) {
        if (users[v].empty() || users[v].back() != static_cast<int>(k)) {
          users[v].push_back(static_cast<int>(k));
        }
      }
    }
    for (const ValueId v : c_.results()) is_result[v] = true;
    for (const DotTail& t :
         FindDotTails(c_, target_, users, is_result, alone_)) {
      for (const int m : t.members) claim_[m] = t.exit;
    }
    group_of_exit_.assign(c_.instructions().size(), -1);
  }

  bool IsUsed(const Instruction& i) const {
    for (int k = 0; k < i.num_results; ++k) {
      const ValueId v = i.first_result + k;
      if (groups_.IsResult(v) || !groups_.ReadersOf(v).empty()) return true;
    }
    return false;
  }

  void Decide(int at) {
    const Instruction& i = c_.instructions()[at];
    if (i.op == &kParameter || !IsUsed(i)) return;
    if (claim_[at] >= 0) return DecideClaimed(at);
    switch (NodeOf(*i.op).node) {
      case NodeClass::kLoop:
        return DecideLoop(at);
      case NodeClass::kReduce:
        return DecideReduce(at);
      default:
        return groups_.AddAlone(at);
    }
  }

  void DecideClaimed(int at) {
    if (claim_[at] == at) {
      group_of_exit_[at] = groups_.AddDot(at);
    } else {
      groups_.Inline(at, group_of_exit_[claim_[at]]);
    }
  }

  GroupIds ReadersOf(const Instruction& i) const {
    if (i.num_results == 1) return groups_.ReadersOf(i.first_result);
    GroupIds readers;
    for (int k = 0; k < i.num_results; ++k) {
      for (const GroupId g : groups_.ReadersOf(i.first_result + k)) {
        if (std::find(readers.begin(), readers.end(), g) == readers.end()) {
          readers.push_back(g);
        }
      }
    }
    return readers;
  }

  // ---- loops --------------------------------------------------------------

  bool IsBigConstant(const Instruction& i) const {
    return i.op == &kConstant && c_.shape(i.first_result).num_elements() != 1;
  }

  // Through no point: there before the group runs.
  bool IsReadWhole(int at, const Group& group) const {
    return std::any_of(group.whole.begin(), group.whole.end(),
                       [&](ValueId v) { return c_.producer(v) == at; });
  }

  // Whether the group may evaluate the instruction at all.
  bool MayInline(int at, GroupId g) const {
    const Instruction& i = c_.instructions()[at];
    const Group& group = groups_.group(g);
    if (group.points == nullptr || IsBigConstant(i)) return false;
    if (i.op == &kConcatenate &&
        static_cast<int>(i.operands.size()) > target_.max_concatenated) {
      return false;
    }
    if (IsReadWhole(at, group)) return false;
    // A library takes biases and numbers along; what it adds is there.
    if (group.is_dot && target_.epilogues != EpilogueSupport::kAny &&
        !IsNumberOrBias(c_, i.first_result, c_.shape(group.outputs[0]))) {
      return false;
    }
    return groups_.HasRoom(at, g, /*writes=*/false);
  }

  void DecideLoop(int at) {
    const Instruction& i = c_.instructions()[at];
    const GroupIds readers = groups_.ReadersOf(i.first_result);
    const bool leaves = groups_.IsResult(i.first_result);
    if (readers.size() == 1 && !leaves) {
      const GroupId g = readers[0];
      if (MayInline(at, g) && cost_.PaysInOne(at, g)) {
        groups_.group(g).extra_seconds += cost_.Recompute(at, g, 1);
        return groups_.Inline(at, g);
      }
      return MakeOwn(at);
    }
    // What is free to recompute is not worth being written by another.
    if (leaves && !NodeOf(*i.op).free && HostInOne(at)) return;
    if (InlineIntoAll(at, readers, leaves) && !leaves) return;
    if (HostInOne(at)) return;
    MakeOwn(at);
  }

  void MakeOwn(int at) {
    if (NodeOf(*c_.instructions()[at].op).view) return groups_.AddAlone(at);
    groups_.AddOwn(at);
  }

  // Several readers: compute it in each when that costs less than its bytes
  // do. True when no group reads it any more.
  bool InlineIntoAll(int at, const GroupIds& readers, bool leaves) {
    const Instruction& i = c_.instructions()[at];
    const bool free = NodeOf(*i.op).free;
    // Groups that take it; of one that cannot, it must be written anyway.
    GroupIds takers;
    for (const GroupId g : readers) {
      if (MayInline(at, g)) takers.push_back(g);
    }
    const bool written = leaves || takers.size() < readers.size();
    if (!free && !cost_.PaysInAll(at, takers, written)) return false;
    bool all = true;
    for (size_t k = readers.size(); k-- > 0;) {
      const GroupId g = readers[k];
      if (!MayInline(at, g)) {
        all = false;
        continue;
      }
      groups_.group(g).extra_seconds += cost_.Recompute(at, g, 0);
      groups_.Inline(at, g);
    }
    return all;
  }

  // Whether its result is evaluated once per element of the group's loops, in
  // the order of its own elements.
  bool IsWhole(const Instruction& i, const Group& group) const {
    const PointGraph& points = *group.points;
    const Dims kept(points.domain().begin(),
                    points.domain().begin() + points.num_kept());
    const auto ids = points.PointsOf(i.first_result);
    const Shape& shape = c_.shape(i.first_result);
    if (ids.size() != 1 || points.point(ids[0]).scope != 0) return false;
    const IndexExpr got =
        points.map(points.point(ids[0]).map).Linear(shape.dims());
    if (shape.num_elements() == ElementsOf(kept)) {
      return got == IndexMap::Identity(kept).Linear(kept);
    }
    // Where not all loops are kept, some are a reduction's.
    return shape.num_elements() == ElementsOf(points.domain()) &&
           got == group.reduction->InputMap().Linear(group.reduction->input);
  }

  // Lets one of the readers write it out for the others.
  bool HostInOne(int at) {
    const Instruction& i = c_.instructions()[at];
    constexpr int kTries = 4;
    const GroupIds readers = ReadersOf(i);
    int tries = 0;
    for (const GroupId g : readers) {
      if (++tries > kTries) return false;
      const Group& group = groups_.group(g);
      if (!MayInline(at, g) || group.is_dot || !IsWhole(i, group) ||
          !groups_.HasRoom(at, g, /*writes=*/true)) {
        continue;
      }
      GroupIds others = readers;
      others.erase(std::find(others.begin(), others.end(), g));
      if (groups_.MayReach(others, g)) continue;
      groups_.Host(at, g);
      return true;
    }
    return false;
  }

  // ---- reductions ---------------------------------------------------------

  void DecideReduce(int at) {
    const Instruction& i = c_.instructions()[at];
    const GroupIds readers = ReadersOf(i);
    int tries = 0;
    for (const GroupId g : readers) {
      if (++tries > 4) break;
      const Group& group = groups_.group(g);
      if (group.points == nullptr || group.is_dot || IsReadWhole(at, group) ||
          !groups_.HasRoom(at, g, /*writes=*/true)) {
        continue;
      }
      GroupIds others = readers;
      others.erase(std::find(others.begin(), others.end(), g));
      if (groups_.MayReach(others, g)) continue;
      if (!FitReduction(i, g)) continue;
      return groups_.Host(at, g);  // nobody else reads it: not written
    }
    if (JoinSibling(at, readers)) return;
    groups_.AddOwn(at);
  }

  // Makes the group's loops those of the reduction when they can be.
  bool FitReduction(const Instruction& i, GroupId g) {
    Group& group = groups_.group(g);
    const ReduceAxes axes = AxesOfReduce(c_, i);
    if (group.reduction) {
      return *group.reduction == axes && IsAtResult(i, group, axes) &&
             (!IsNeededPerTurn(i, group) || cost_.IsResident(i, axes));
    }
    const PointGraph& points = *group.points;
    const Dims domain = axes.Domain();
    const Dims kept(domain.begin(), domain.begin() + axes.kept.size());
    const Dims old = points.domain();
    // The group runs over the results, or over the inputs.
    for (const bool over_results : {true, false}) {
      if (ElementsOf(old) != ElementsOf(over_results ? kept : domain)) {
        continue;
      }
      const IndexExpr linear = over_results
                                   ? axes.ResultMap().Linear(kept)
                                   : axes.InputMap().Linear(axes.input);
      const IndexMap back = Delinearize(linear, old);
      if (!over_results && !cost_.IsResident(i, axes)) continue;
      if (!ReadsAt(i, points, back, axes)) continue;
      groups_.MakeReduction(g, axes, back.axes);
      return true;
    }
    return false;
  }

  // Whether every point of the results, with loops replaced, is the reduced
  // value of its own turn.
  bool ReadsAt(const Instruction& i, const PointGraph& points,
               const IndexMap& back, const ReduceAxes& axes) const {
    const IndexMap want = axes.ResultMap();
    for (int k = 0; k < i.num_results; ++k) {
      for (const PointId p : points.PointsOf(i.first_result + k)) {
        const Point& point = points.point(p);
        if (point.scope != 0 ||
            points.map(point.map).Substitute(back.axes) != want) {
          return false;
        }
      }
    }
    return true;
  }

  bool IsAtResult(const Instruction& i, const Group& group,
                  const ReduceAxes& axes) const {
    return ReadsAt(i, *group.points, IndexMap::Identity(group.points->domain()),
                   axes);
  }

  bool IsNeededPerTurn(const Instruction& i, const Group& group) const {
    for (int k = 0; k < i.num_results; ++k) {
      for (const PointId p : group.points->PointsOf(i.first_result + k)) {
        if (group.points->NeededPerTurn(p)) return true;
      }
    }
    return false;
  }

  // A reduction of the same input along the same axes, in one pass over it.
  bool JoinSibling(int at, const GroupIds& readers) {
    const Instruction& i = c_.instructions()[at];
    const ReduceAxes axes = AxesOfReduce(c_, i);
    int tries = 0;
    for (const GroupId g : groups_.ReadersOf(i.operands[0])) {
      if (++tries > 8) return false;
      const Group& group = groups_.group(g);
      if (!group.reduction || !(*group.reduction == axes) ||
          !groups_.HasRoom(at, g, /*writes=*/true) ||
          groups_.MayReach(readers, g)) {
        continue;
      }
      groups_.Adopt(at, g, axes.ResultMap());
      return true;
    }
    return false;
  }

  const Computation& c_;
  const Target& target_;
  const std::set<int>& alone_;
  Groups groups_;
  const FusionCost cost_;
  std::vector<int> claim_;  // by instruction: the exit of its tail, -1
  std::vector<GroupId> group_of_exit_;
};

// The product of a group that no library computes as it came out: what its tail
// was found to read is not what the group reads after all, for want of room.
// -1: there is a call.
int RefusedProduct(const Computation& c, const Target& target,
                   const Group& group) {
  std::vector<int> members = group.members;
  std::sort(members.begin(), members.end());
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
    Groups groups = Fuser(computation, target, alone).Run();
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
