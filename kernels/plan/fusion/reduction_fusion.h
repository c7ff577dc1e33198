// ReductionFusion: which group folds a reduction, and what its loops become.
#ifndef HAWSER_KERNELS_PLAN_FUSION_REDUCTION_FUSION_H_
#define HAWSER_KERNELS_PLAN_FUSION_REDUCTION_FUSION_H_

#include "absl/types/span.h"
#include "kernels/plan/fusion/fusion_cost.h"
#include "kernels/plan/fusion/groups.h"

namespace hawser::plan {

// Invariant: a group folds over one set of loops only, those of the first
// reduction that was placed in it, and each reduction is in one group.
class ReductionFusion {
 public:
  // `groups` outlives this object.
  explicit ReductionFusion(Groups* groups)
      : groups_(*groups), c_(groups->computation()), cost_(*groups) {}

  // Places a kReduce instruction after all of its readers were placed: in a
  // reader whose loops can be the reduction's, in a reduction of the same input
  // along the same axes, or in a group of its own.
  void Place(int instruction);

 private:
  bool FitsInto(const Instruction& i, const ReduceAxes& axes, GroupId g);
  bool JoinSibling(int instruction, const ReduceAxes& axes,
                   absl::Span<const GroupId> readers);
  bool JoinRelative(int instruction, const ReduceAxes& axes,
                    absl::Span<const GroupId> readers);

  Groups& groups_;
  const Computation& c_;
  const FusionCost cost_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_REDUCTION_FUSION_H_
