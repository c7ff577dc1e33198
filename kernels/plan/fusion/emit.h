// EmitGroups: the groups of a computation written as ordinary IR, in the order
// they run; FusedBodies: what the fusions in it call.
#ifndef HAWSER_KERNELS_PLAN_FUSION_EMIT_H_
#define HAWSER_KERNELS_PLAN_FUSION_EMIT_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/fusion/groups.h"

namespace hawser::plan {

// A fusion's computation before it is written: parameters, then steps. Values
// are numbered as in the computation.
struct FusedBody {
  struct Step {
    const Instruction* like;  // whose op and attributes it has
    absl::InlinedVector<ValueId, 3> operands;
    absl::InlinedVector<int, 1> called;
  };
  std::vector<const Shape*> parameters;
  std::vector<Step> steps;
  std::vector<ValueId> results;
};

// Invariant: no two computations that it has written are equal but for their
// names. Repeated layers so become one computation, and what is derived from
// it is derived once.
class FusedBodies {
 public:
  // `module`, which the computations are added to, outlives this object.
  explicit FusedBodies(Module* module) : module_(*module) {}

  Module& module() const { return module_; }
  // The number of the computation that is `body`. Errors: what Append says.
  absl::StatusOr<int> Find(const FusedBody& body);

 private:
  absl::StatusOr<int> Write(const FusedBody& body);

  Module& module_;
  // Keyed by hash; few have the same one and differ.
  absl::flat_hash_map<size_t, absl::InlinedVector<int, 1>> written_;
};

// `called` maps computations of the old module to those of the bodies' module,
// to which the new one is added. Returns its number.
// Errors: kInternal when groups wait for each other.
absl::StatusOr<int> EmitGroups(const Groups& groups,
                               absl::Span<const int> called,
                               FusedBodies* bodies);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_EMIT_H_
