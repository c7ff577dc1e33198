// FusedBodies: what the fusions of a planned module call, each written once.
#ifndef HAWSER_KERNELS_PLAN_FUSION_FUSED_BODIES_H_
#define HAWSER_KERNELS_PLAN_FUSION_FUSED_BODIES_H_

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"

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
  // By hash; few have the same one and differ.
  absl::flat_hash_map<size_t, absl::InlinedVector<int, 1>> written_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_FUSION_FUSED_BODIES_H_
