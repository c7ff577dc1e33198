// first_places: where the first elements of a sort stood. A planner alone makes
// this instruction: it is in no registry.
#ifndef HAWSER_KERNELS_PLAN_PARALLEL_FIRST_PLACES_H_
#define HAWSER_KERNELS_PLAN_PARALLEL_FIRST_PLACES_H_

#include "absl/status/statusor.h"
#include "core/ir/op_def.h"

namespace hawser::plan {

absl::StatusOr<Shapes> InferFirstPlaces(const InferContext& context);

inline constexpr AttributeSpec kFirstPlacesAttributes[] = {
    {"dimension", AttributeKind::kInt, true, "the last axis"},
    {"count", AttributeKind::kInt, true, "how many; at most the axis' size"},
};
// Operands are the keys of a sort whose comparator, which is called, has a
// SortOrder (kernels/plan/region/block_layout.h); the result has s32 places
// along the axis, in the order of the sort, what is equal as it stood.
inline constexpr OpDef kFirstPlaces{
    .name = "first_places",
    .arity = {1, kMany},
    .dtypes = kAnyDType,
    .attributes = kFirstPlacesAttributes,
    .called = {1, 1},
    .infer = InferFirstPlaces,
    .traits = kHasRegions,
    .summary = "Where the first elements stood that a sort would give.",
    .source = "hawser"};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_PARALLEL_FIRST_PLACES_H_
