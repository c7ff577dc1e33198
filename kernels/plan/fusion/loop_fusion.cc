#include "kernels/plan/fusion/loop_fusion.h"

#include <algorithm>

#include "core/ir/leaves.h"
#include "core/ops/movement/shape.h"
#include "kernels/plan/region/epilogue.h"

namespace hawser::plan {
namespace {

// Readers asked to write a value for the others before it gets a group.
constexpr int kHostTries = 4;
// Groups asked to write a value that they do not read.
constexpr int kSiblingTries = 4;

// True if the group evaluates the result of `i` once per element of its loops,
// in the order of the result's own elements.
bool IsWhole(const Computation& c, const Instruction& i, const Group& group) {
  const PointGraph& points = *group.points;
  const auto ids = points.PointsOf(i.first_result);
  const Shape& shape = c.shape(i.first_result);
  if (ids.size() != 1 || points.point(ids[0]).scope != 0) return false;
  const Dims kept(points.domain().begin(),
                  points.domain().begin() + points.num_kept());
  const IndexMap& map = points.map(points.point(ids[0]).map);
  if (shape.dims() == kept && map == IndexMap::Identity(kept)) return true;
  if (shape.num_elements() == ElementsOf(kept)) {
    return map.Linear(shape.dims()) == IndexMap::Identity(kept).Linear(kept);
  }
  // If not all loops are kept, some are a reduction's.
  if (shape.num_elements() != ElementsOf(points.domain())) return false;
  const IndexMap input = group.reduction->InputMap();
  return (shape.dims() == group.reduction->input && map == input) ||
         map.Linear(shape.dims()) == input.Linear(group.reduction->input);
}

// True if the group's loops are these, or those of rows of these sizes whose
// elements it writes.
bool RunsOver(const Dims& dims, const Computation& c, const Group& group) {
  if (!group.reduction) return group.points->domain() == dims;
  return group.reduction->IsInnermost() && group.reduction->input == dims &&
         std::any_of(group.outputs.begin(), group.outputs.end(),
                     [&](ValueId v) { return c.shape(v).dims() == dims; });
}

}  // namespace

// True if the group may evaluate the instruction at all.
bool LoopFusion::MayInline(int instruction, GroupId g) const {
  const Instruction& i = c_.instructions()[instruction];
  const Group& group = groups_.group(g);
  const bool big_constant =
      i.op == &kConstant && c_.shape(i.first_result).num_elements() != 1;
  if (group.points == nullptr || big_constant) return false;
  if (i.op == &kConcatenate &&
      static_cast<int>(i.operands.size()) > target_.max_concatenated) {
    return false;
  }
  if (groups_.ReadsWhole(g, instruction)) return false;
  // A library takes biases and numbers along; what it adds is there before.
  if (group.is_dot && target_.epilogues != EpilogueSupport::kAny &&
      !IsNumberOrBias(c_, i.first_result, c_.shape(group.outputs[0]))) {
    return false;
  }
  return groups_.HasRoom(instruction, g, /*writes=*/false);
}

void LoopFusion::Place(int instruction) {
  const Instruction& i = c_.instructions()[instruction];
  const auto readers = groups_.ReadersOf(i);
  const bool leaves = groups_.IsResult(i.first_result);
  if (readers.size() == 1 && !leaves) {
    const GroupId g = readers[0];
    if (MayInline(instruction, g) && cost_.PaysInOne(instruction, g)) {
      groups_.group(g).extra_seconds += cost_.Recompute(instruction, g, 1);
      return groups_.Inline(instruction, g);
    }
    if (!JoinSibling(instruction, readers)) MakeOwn(instruction);
    return;
  }
  // A value that is free to recompute is not worth being written by another
  // group.
  if (leaves && !cost_.IsFree(instruction) && HostInOne(instruction, readers)) {
    return;
  }
  if (InlineIntoAll(instruction, readers, leaves) && !leaves) return;
  if (HostInOne(instruction, groups_.ReadersOf(i))) return;
  if (JoinSibling(instruction, groups_.ReadersOf(i))) return;
  MakeOwn(instruction);
}

void LoopFusion::MakeOwn(int instruction) {
  if (groups_.row(instruction).view) {
    return groups_.AddAlone(instruction);
  }
  groups_.AddOwn(instruction);
}

// Computes the value in each of its readers when that costs less than its bytes
// do. Returns true when no group reads it any more.
bool LoopFusion::InlineIntoAll(int instruction,
                               absl::Span<const GroupId> readers, bool leaves) {
  // The groups that take it; for one that cannot, it must be written anyway.
  absl::InlinedVector<GroupId, 2> takers;
  for (const GroupId g : readers) {
    if (MayInline(instruction, g)) takers.push_back(g);
  }
  const bool written = leaves || takers.size() < readers.size();
  if (!cost_.IsFree(instruction) &&
      !cost_.PaysInAll(instruction, takers, written)) {
    return false;
  }
  for (size_t k = takers.size(); k-- > 0;) {
    const GroupId g = takers[k];
    groups_.group(g).extra_seconds += cost_.Recompute(instruction, g, 0);
    groups_.Inline(instruction, g);
  }
  return takers.size() == readers.size();
}

// Lets one of the readers write the value out for the others.
bool LoopFusion::HostInOne(int instruction, absl::Span<const GroupId> readers) {
  if (readers.empty()) return false;
  const Instruction& i = c_.instructions()[instruction];
  const auto host = [&](GroupId g) {
    const Group& group = groups_.group(g);
    if (!MayInline(instruction, g) || group.is_dot || !IsWhole(c_, i, group) ||
        !groups_.MayHost(instruction, g, readers)) {
      return false;
    }
    groups_.Host(instruction, g);
    return true;
  };
  // Of this one it is known that none of the others leads to it.
  const GroupId first = groups_.FirstOf(readers);
  if (host(first)) return true;
  int tries = 1;
  for (const GroupId g : readers) {
    if (g == first) continue;
    if (++tries > kHostTries) return false;
    if (host(g)) return true;
  }
  return false;
}

// Lets a group over the same loops compute and write the value: what both read
// is read once.
bool LoopFusion::JoinSibling(int instruction,
                             absl::Span<const GroupId> readers) {
  const Instruction& i = c_.instructions()[instruction];
  const Shape& shape = c_.shape(i.first_result);
  if (groups_.row(instruction).view || i.num_results != 1 ||
      shape.num_elements() <= 1) {
    return false;
  }
  const FusionCost::Values ours =
      cost_.Behind(i.operands, shape.num_elements());
  const int last = groups_.size() - 1;
  for (GroupId g = last; g >= 0 && g > last - kSiblingTries; --g) {
    const Group& group = groups_.group(g);
    if (group.points == nullptr || group.is_dot ||
        !RunsOver(shape.dims(), c_, group) ||
        groups_.ReadsWhole(g, instruction) ||
        !groups_.HasRoom(instruction, g, /*writes=*/true) ||
        !cost_.Meet(ours, group.reads, shape.num_elements()) ||
        groups_.MayReach(readers, g)) {
      continue;
    }
    groups_.Adopt(instruction, g,
                  group.reduction ? group.reduction->InputMap()
                                  : IndexMap::Identity(shape.dims()));
    return true;
  }
  return false;
}

}  // namespace hawser::plan
