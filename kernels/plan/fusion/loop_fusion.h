// LoopFusion: which groups evaluate an instruction whose result is computed
// element by element.
#ifndef HAWSER_KERNELS_PLAN_FUSION_LOOP_FUSION_H_
#define HAWSER_KERNELS_PLAN_FUSION_LOOP_FUSION_H_

#include "absl/types/span.h"
#include "kernels/plan/fusion/fusion_cost.h"
#include "kernels/plan/fusion/groups.h"

namespace hawser::plan {

// Invariant: every instruction that was placed is a member of at least one
// group, and no two groups wait for each other.
class LoopFusion {
 public:
  // `groups` outlives this object.
  explicit LoopFusion(Groups* groups)
      : groups_(*groups),
        c_(groups->computation()),
        target_(groups->target()),
        cost_(*groups) {}

  // Places a kLoop instruction after all of its readers were placed: in its one
  // reader, in each reader, in one reader that writes it for the others, in
  // a group that reads what it reads, or in a group of its own.
  void Place(int instruction);

 private:
  bool MayInline(int instruction, GroupId g) const;
  bool InlineIntoAll(int instruction, absl::Span<const GroupId> readers,
                     bool leaves);
  bool HostInOne(int instruction, absl::Span<const GroupId> readers);
  bool JoinSibling(int instruction, absl::Span<const GroupId> readers);
  void MakeOwn(int instruction);

  Groups& groups_;
  const Computation& c_;
  const Target& target_;
  const FusionCost cost_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_LOOP_FUSION_H_
