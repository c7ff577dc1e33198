// Slices at places that are themselves values of a tensor.
#ifndef HAWSER_CORE_OPS_MOVEMENT_GATHER_H_
#define HAWSER_CORE_OPS_MOVEMENT_GATHER_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferGather(const InferContext& context);
AxisMap GatherAxes(const InferContext&, absl::Span<const Shape> results);
absl::Status GatherPart(PartContext&);
absl::Status GatherSplit(SplitContext&);
absl::StatusOr<std::vector<Expression>> GatherBatch(BatchContext&);
absl::Status GatherGradient(GradientContext&);

inline constexpr AttributeSpec kGatherAttributes[] = {
    {"collapsed_slice_dims", AttributeKind::kInts, true,
     "axes of the operand, of slice size 1, that the result lacks"},
    {"index_vector_dim", AttributeKind::kInt, true,
     "the axis of the indices that holds index vectors; their rank: none"},
    {"offset_dims", AttributeKind::kInts, true,
     "axes of the result that run through a slice"},
    {"slice_sizes", AttributeKind::kInts, true, "sizes of each slice"},
    {"start_index_map", AttributeKind::kInts, true,
     "axis of the operand for each component of an index vector"},
};
// Operands: what is gathered from, start indices.
// C1: indices are integers. C2: 0 <= index_vector_dim <= rank of the indices.
// C3: one slice size per axis of the operand. C4: 0 <= slice size <= size. C5:
// collapsed_slice_dims are axes of the operand. C6: they ascend. C7: their
// slice sizes are 1. C8: start_index_map has one entry per component. C9: its
// entries are axes of the operand. C10: no two are the same. C11: offset_dims
// has one entry per axis of the operand that is not collapsed. C12: they are
// axes of the result. C13: they ascend. C14: the result is a shape.
inline constexpr OpDef kGather{
    .name = "gather",
    .arity = {2, 2},
    .dtypes = kAnyDType,
    .attributes = kGatherAttributes,
    .infer = InferGather,
    .axes = GatherAxes,
    .part = PartBy(GatherPart),
    .split = GatherSplit,
    .batch = BatchBy(GatherBatch),
    .gradient = ByRule(GatherGradient),
    .traits = kDataMovement,
    .summary =
        "One slice per index vector; starts are clamped so that it "
        "fits.",
    .source = "StableHLO gather; collapsed slice sizes are 1, never 0"};

inline constexpr const OpDef* kGatherOps[] = {&kGather};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_MOVEMENT_GATHER_H_
