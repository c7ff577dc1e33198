// Groups: which instructions of a computation become one kernel, while that is
// being decided. Instructions are met backwards, so a group grows from its
// results towards its operands.
#ifndef HAWSER_KERNELS_PLAN_FUSION_GROUPS_H_
#define HAWSER_KERNELS_PLAN_FUSION_GROUPS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/ir/module.h"
#include "kernels/plan/region/node_table.h"
#include "kernels/plan/region/point_graph.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

using GroupId = int;

struct Group {
  absl::InlinedVector<int, 6> members;      // instructions, descending
  absl::InlinedVector<ValueId, 2> outputs;  // read outside or results
  absl::InlinedVector<ValueId, 6> reads;    // every value it ever demanded
  int num_reads = 0;  // buffers it would read as it stands
  // nullptr: an instruction that is never fused.
  std::unique_ptr<PointGraph> points;
  std::optional<ReduceAxes> reduction;
  bool is_dot = false;
  absl::InlinedVector<ValueId, 2> whole;  // read as a whole, through no point
  double extra_seconds = 0;  // spent on recomputing what others compute too
};

// An order of groups in which each stands before those that read what it
// writes. It changes only where an older group writes one more value.
class GroupOrder {
 public:
  // Adds a group that reads nothing that another writes, in front.
  void AddFirst();
  bool IsBefore(GroupId a, GroupId b) const {
    return places_[a].label < places_[b].label;
  }
  // Moves groups that stand before `g` behind it, as they follow each other.
  void MoveBehind(GroupId g, std::vector<GroupId>& moved);

 private:
  struct Place {
    int64_t label;  // ascends along the order
    GroupId before = -1, behind = -1;
  };
  void Unlink(GroupId g);
  void Relabel();

  std::vector<Place> places_;
  GroupId first_ = -1;
};

// The groups of one computation and the values that each reads and writes.
// Invariant: a value's readers are the groups that need it and do not evaluate
// it; each value has at most one maker.
class Groups {
 public:
  Groups(const Computation& computation, const Target& target);

  const Computation& computation() const { return c_; }
  const Target& target() const { return target_; }
  const NodeRow& row(int instruction) const { return *rows_[instruction]; }
  int size() const { return static_cast<int>(groups_.size()); }
  const Group& group(GroupId g) const { return groups_[g]; }
  Group& group(GroupId g) { return groups_[g]; }
  // Groups that read `value` as things stand, each once.
  const absl::InlinedVector<GroupId, 2>& ReadersOf(ValueId value) const {
    return readers_[value];
  }
  // Groups that read any result of `i`, each once.
  absl::InlinedVector<GroupId, 2> ReadersOf(const Instruction& i) const;
  // True if the group reads a result of the instruction as a whole, through no
  // point: the result must be there before the group runs.
  bool ReadsWhole(GroupId g, int instruction) const;
  bool IsResult(ValueId v) const { return is_result_[v]; }
  // The group whose output `value` is, -1 before it is one.
  GroupId MakerOf(ValueId value) const { return maker_[value]; }

  // A group of an instruction that is never fused.
  void AddAlone(int instruction);
  // A group over loops of its own: the instruction and its results.
  GroupId AddOwn(int instruction);
  // Adds one like AddOwn, over the sizes of `instruction`'s result.
  GroupId AddDot(int exit);
  // Evaluates the instruction inside the group, wherever it is demanded.
  void Inline(int instruction, GroupId g);
  // Does what Inline does, and writes the results out for others.
  void Host(int instruction, GroupId g);
  void MakeReduction(GroupId g, const ReduceAxes& axes,
                     absl::Span<const IndexExpr> back);
  // Evaluates a result in a group over the same loops that never demanded it.
  void Adopt(int instruction, GroupId g, const IndexMap& map);
  // Makes each group g a part of group into[g], itself or one before it that
  // stays and waits for nothing of g, nor g of it. Groups get new numbers.
  // Nothing is placed afterwards: a group's points are those it had.
  void Join(absl::Span<const GroupId> into);

  // True if the group may take the instruction: limits of size, buffers,
  // predicates. `writes`: it writes the results that others need.
  bool HasRoom(int instruction, GroupId g, bool writes) const;
  // The group that waits for none of the others; not empty.
  GroupId FirstOf(absl::Span<const GroupId> groups) const;
  // True if Host keeps the limits and makes no circle. `readers` are all groups
  // that read the instruction's results, `g` among them.
  bool MayHost(int instruction, GroupId g, absl::Span<const GroupId> readers);
  // True if some chain of groups leads from what `from` writes to `to`, or when
  // it takes too long to say.
  bool MayReach(absl::Span<const GroupId> from, GroupId to) {
    return MayReach(from, to, /*except=*/-1);
  }

 private:
  // `except`: a group of `from` that does not count; -1: none.
  bool MayReach(absl::Span<const GroupId> from, GroupId to, GroupId except);
  // Makes `reached_` the groups before `to` that are of `from` or wait for one
  // of these. False: `to` does, or it takes too long to say.
  bool Reach(absl::Span<const GroupId> from, GroupId to, GroupId except);
  bool IsScalarConstant(ValueId value) const;
  void Read(ValueId value, GroupId g);
  void Forget(int instruction, GroupId g);
  void Write(int instruction, GroupId g);

  const Computation& c_;
  const Target& target_;
  std::vector<const NodeRow*> rows_;  // by instruction
  std::vector<Group> groups_;
  std::vector<absl::InlinedVector<GroupId, 2>> readers_;
  std::vector<bool> is_result_;
  std::vector<GroupId> maker_;
  GroupOrder order_;
  // For Reach: the last of its calls in which each group was seen, and the
  // number of the current call.
  std::vector<int> seen_;
  int reach_calls_ = 0;
  std::vector<GroupId> reached_;
  std::vector<ValueId> demanded_;  // Inline's
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_GROUPS_H_
