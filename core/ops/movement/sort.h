// Elements in an order that a computation decides.
#ifndef HAWSER_CORE_OPS_MOVEMENT_SORT_H_
#define HAWSER_CORE_OPS_MOVEMENT_SORT_H_

#include "core/ir/op_def.h"
#include "core/ops/expression.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferSort(const InferContext& context);
absl::Status SortPart(PartContext&);
absl::Status SortGradient(GradientContext&);

// The number of a computation (lhs, rhs) -> order(lhs) < order(rhs) of scalars
// in a module, after which come `others` pairs of scalars that it does not look
// at; descending: >. The order of floats is that of numbers, -0 equals 0, and
// NaN is the largest; false is below true. Complex numbers have none (checked).
int AddComparator(DType dtype, bool descending,
                  absl::Span<const DType> others, Module* module);
// An integer, or x itself, that is ordered as x is. x: reals or bool.
Expression OrderOf(const Expression& x);

inline constexpr AttributeSpec kSortAttributes[] = {
    {"dimension", AttributeKind::kInt, true, "the axis to sort along"},
    {"is_stable", AttributeKind::kBool, false, "equals keep their order"},
};
// C1: all inputs have the same sizes. C2: dimension is an axis. C3: the
// computation takes 2N scalars of the N inputs' dtypes: of each input one on the
// left and one on the right, and gives bool[].
inline constexpr OpDef kSort{
    .name = "sort",
    .arity = {1, kMany},
    .dtypes = kAnyDType,
    .attributes = kSortAttributes,
    .called = {1, 1},
    .infer = InferSort,
    .axes = AxesBesideDimension,
    .part = PartBy(SortPart),
    .batch = BatchByEdits(kShiftedDimension),
    .gradient = ByRule(SortGradient),
    .traits = kHasRegions,
    .summary = "Moves the elements of N inputs along an axis, all alike, so that "
               "none comes before another one that is less by a computation; "
               "where that is no strict weak order, in some order.",
    .source = "StableHLO sort"};

inline constexpr const OpDef* kSortOps[] = {&kSort};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_MOVEMENT_SORT_H_
