#include "kernels/plan/fusion/reduction_fusion.h"

namespace hawser::plan {
namespace {

// Groups that are looked at before the reduction gets one of its own.
constexpr int kReaderTries = 16, kFoldTries = 8;

// True if every point of the results, with loops replaced by `back`, is the
// reduced value of its own iteration.
bool ReadsAt(const Instruction& i, const PointGraph& points,
             const IndexMap& back, const ReduceAxes& axes) {
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

bool IsNeededPerTurn(const Instruction& i, const PointGraph& points) {
  for (int k = 0; k < i.num_results; ++k) {
    for (const PointId p : points.PointsOf(i.first_result + k)) {
      if (points.NeededPerTurn(p)) return true;
    }
  }
  return false;
}

}  // namespace

void ReductionFusion::Place(int instruction) {
  const Instruction& i = c_.instructions()[instruction];
  const ReduceAxes axes = AxesOfReduce(c_, i);
  const auto readers = groups_.ReadersOf(i);
  int tries = 0;
  bool asks = true;  // whether a sibling has not been looked for
  for (const GroupId g : readers) {
    if (++tries > kReaderTries) break;
    const Group& group = groups_.group(g);
    if (group.points == nullptr || group.is_dot ||
        groups_.ReadsWhole(g, instruction) ||
        !groups_.MayHost(instruction, g, readers)) {
      continue;
    }
    // A reader of results alone may read them of one pass for several.
    const bool after = !group.reduction && ElementsOf(group.points->domain()) <
                                               ElementsOf(axes.input);
    if (asks && after && cost_.IsLong(i)) {
      if (JoinSibling(instruction, axes, readers)) return;
      asks = false;
    }
    if (!FitsInto(i, axes, g)) continue;
    return groups_.Host(instruction, g);  // not written without other readers
  }
  if (!asks || !JoinSibling(instruction, axes, readers)) {
    groups_.AddOwn(instruction);
  }
}

// Makes the group's loops those of the reduction when they can be.
bool ReductionFusion::FitsInto(const Instruction& i, const ReduceAxes& axes,
                               GroupId g) {
  const Group& group = groups_.group(g);
  const PointGraph& points = *group.points;
  const Dims old = points.domain();
  if (group.reduction) {
    return *group.reduction == axes &&
           ReadsAt(i, points, IndexMap::Identity(old), axes) &&
           (!IsNeededPerTurn(i, points) || cost_.IsResident(i, axes));
  }
  const Dims domain = axes.Domain();
  const Dims kept(domain.begin(), domain.begin() + axes.kept.size());
  // The group runs over the results, or over the inputs.
  for (const bool over_results : {true, false}) {
    if (ElementsOf(old) != ElementsOf(over_results ? kept : domain)) continue;
    if (!over_results && !cost_.IsResident(i, axes)) continue;
    const IndexMap back = over_results
                              ? Reshaped(axes.ResultMap(), kept, old)
                              : Reshaped(axes.InputMap(), axes.input, old);
    if (!ReadsAt(i, points, back, axes)) continue;
    groups_.MakeReduction(g, axes, back.axes);
    return true;
  }
  return false;
}

// Joins a reduction of the same input along the same axes: one pass over it.
bool ReductionFusion::JoinSibling(int instruction, const ReduceAxes& axes,
                                  absl::Span<const GroupId> readers) {
  const Instruction& i = c_.instructions()[instruction];
  int tries = 0;
  for (const GroupId g : groups_.ReadersOf(i.operands[0])) {
    if (++tries > kFoldTries) return false;
    const Group& group = groups_.group(g);
    if (!group.reduction || !(*group.reduction == axes) ||
        !groups_.HasRoom(instruction, g, /*writes=*/true) ||
        groups_.MayReach(readers, g)) {
      continue;
    }
    groups_.Adopt(instruction, g, axes.ResultMap());
    return true;
  }
  return JoinRelative(instruction, axes, readers);
}

// Joins one along the same axes of what is computed from the same values.
bool ReductionFusion::JoinRelative(int instruction, const ReduceAxes& axes,
                                   absl::Span<const GroupId> readers) {
  const Instruction& i = c_.instructions()[instruction];
  const int64_t elements = ElementsOf(axes.input);
  const FusionCost::Values ours =
      cost_.Behind(absl::MakeSpan(i.operands).subspan(0, 1), elements);
  const int last = groups_.size() - 1;
  for (GroupId g = last; g >= 0 && g > last - kFoldTries; --g) {
    const Group& group = groups_.group(g);
    if (!group.reduction || !(*group.reduction == axes) ||
        groups_.ReadsWhole(g, instruction) ||
        !groups_.HasRoom(instruction, g, /*writes=*/true) ||
        !cost_.Meet(ours, group.reads, elements) ||
        groups_.MayReach(readers, g)) {
      continue;
    }
    groups_.Adopt(instruction, g, axes.ResultMap());
    return true;
  }
  return false;
}

}  // namespace hawser::plan
