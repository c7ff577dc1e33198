// Rectangular parts of a tensor, at places known when the graph is built or
// only when it runs.
#ifndef HAWSER_CORE_OPS_MOVEMENT_SLICE_H_
#define HAWSER_CORE_OPS_MOVEMENT_SLICE_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferSlice(const InferContext& context);
absl::StatusOr<Shapes> InferDynamicSlice(const InferContext& context);
absl::StatusOr<Shapes> InferDynamicUpdateSlice(const InferContext& context);

AxisMap SliceAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap DynamicSliceAxes(const InferContext&, absl::Span<const Shape>);
AxisMap DynamicUpdateSliceAxes(const InferContext&, absl::Span<const Shape>);

absl::Status SlicePart(PartContext&);
absl::Status DynamicSlicePart(PartContext&);
absl::Status DynamicUpdateSlicePart(PartContext&);

absl::StatusOr<std::vector<Expression>> DynamicSliceBatch(BatchContext&);
absl::StatusOr<std::vector<Expression>> DynamicUpdateSliceBatch(BatchContext&);
absl::Status SliceGradient(GradientContext&);
absl::Status DynamicSliceGradient(GradientContext&);
absl::Status DynamicUpdateSliceGradient(GradientContext&);

inline constexpr AttributeSpec kSliceAttributes[] = {
    {"limit_indices", AttributeKind::kInts, true, "first index left out"},
    {"start_indices", AttributeKind::kInts, true, "first index taken"},
    {"strides", AttributeKind::kInts, true, "step along each axis"},
};
inline constexpr AttributeEdit kSliceEdits[] = {
    {"limit_indices", AttributeEdit::kFrontSize},
    {"start_indices", AttributeEdit::kFront0},
    {"strides", AttributeEdit::kFront1}};
// C1: one entry per axis in each attribute. C2: 0 <= start <= limit <= size.
// C3: strides are at least 1.
inline constexpr OpDef kSlice{
    .name = "slice",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .attributes = kSliceAttributes,
    .infer = InferSlice,
    .axes = SliceAxes,
    .part = PartBy(SlicePart),
    .batch = BatchByEdits(kSliceEdits),
    .gradient = ByRule(SliceGradient),
    .traits = kDataMovement,
    .summary = "Every stride-th element from start up to limit.",
    .source = "StableHLO slice"};

inline constexpr AttributeSpec kDynamicSliceAttributes[] = {
    {"slice_sizes", AttributeKind::kInts, true, "sizes of the result"},
};
inline constexpr AttributeEdit kDynamicSliceEdits[] = {
    {"slice_sizes", AttributeEdit::kFrontSize}};
// C1: one start per axis. C2: starts are integer scalars. C3: they have one
// dtype. C4: one slice size per axis. C5: 0 <= slice size <= size.
inline constexpr OpDef kDynamicSlice{
    .name = "dynamic_slice",
    .arity = {1, 1 + kMaxRank},
    .dtypes = kAnyDType,
    .attributes = kDynamicSliceAttributes,
    .infer = InferDynamicSlice,
    .axes = DynamicSliceAxes,
    .part = PartBy(DynamicSlicePart),
    .batch = {DynamicSliceBatch, kDynamicSliceEdits},
    .gradient = ByRule(DynamicSliceGradient),
    .traits = kDataMovement,
    .summary =
        "A slice of operand 0 that starts at the scalars after it, one "
        "per axis, clamped so that it fits.",
    .source = "StableHLO dynamic_slice"};

// C1: operand and update have one dtype. C2: they have one rank. C3: the
// update is nowhere larger. C4: one start per axis. C5: starts are integer
// scalars. C6: they have one dtype.
inline constexpr OpDef kDynamicUpdateSlice{
    .name = "dynamic_update_slice",
    .arity = {2, 2 + kMaxRank},
    .dtypes = kAnyDType,
    .infer = InferDynamicUpdateSlice,
    .axes = DynamicUpdateSliceAxes,
    .part = PartBy(DynamicUpdateSlicePart),
    .batch = BatchBy(DynamicUpdateSliceBatch),
    .gradient = ByRule(DynamicUpdateSliceGradient),
    .traits = kDataMovement,
    .summary =
        "Operand 0 with operand 1 written over the slice that starts "
        "at the scalars after them, clamped so that it fits.",
    .source = "StableHLO dynamic_update_slice"};

inline constexpr const OpDef* kSliceOps[] = {&kSlice, &kDynamicSlice,
                                             &kDynamicUpdateSlice};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_MOVEMENT_SLICE_H_
