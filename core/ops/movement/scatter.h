// Writing at places that are themselves values of a tensor.
#ifndef HAWSER_CORE_OPS_MOVEMENT_SCATTER_H_
#define HAWSER_CORE_OPS_MOVEMENT_SCATTER_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferScatter(const InferContext& context);
AxisMap ScatterAxes(const InferContext&, absl::Span<const Shape> results);
absl::Status ScatterPart(PartContext&);
absl::StatusOr<std::vector<Expression>> ScatterBatch(BatchContext&);
absl::Status ScatterGradient(GradientContext&);

inline constexpr AttributeSpec kScatterAttributes[] = {
    {"index_vector_dim", AttributeKind::kInt, true,
     "the axis of the indices that holds index vectors; their rank: none"},
    {"inserted_window_dims", AttributeKind::kInts, true,
     "axes of the inputs that a window lacks: it has size 1 there"},
    {"scatter_dims_to_operand_dims", AttributeKind::kInts, true,
     "axis of the inputs for each component of an index vector"},
    {"update_window_dims", AttributeKind::kInts, true,
     "axes of the updates that run through a window"},
};
// Operands are N inputs, the indices of where windows start, and N updates: a
// window for each index vector. Each element of a window is combined with the
// element of the input that it falls on, one after another in row-major order
// of the updates; one that falls outside, even if others of its window do not,
// is dropped. Halves that are added or multiplied are so in f32, and rounded
// once (FoldDTypes in core/ops/formulas/wide_sums.h).
// C1: there are as many updates as inputs, and indices. C2: all inputs have
// the same sizes. C3: so have all updates. C4: each updates have their input's
// dtype. C5: indices are integers. C6: 0 <= index_vector_dim <= rank of the
// indices. C7: inserted_window_dims are axes of the inputs. C8: they ascend.
// C9: update_window_dims has one entry per axis of the inputs that is not
// inserted. C10: the updates' rank is that of the indices without index
// vectors, and as many. C11: update_window_dims are axes of the updates. C12:
// they ascend. C13: scatter_dims_to_operand_dims has one entry per component.
// C14: its entries are axes of the inputs. C15: no two are the same. C16: a
// window is not larger than the inputs. C17: the other axes of the updates
// have the indices' sizes. C18: the computation takes 2N scalars of the
// inputs' dtypes: N elements of them, then N of the updates. C19: it gives the
// N new elements.
inline constexpr OpDef kScatter{
    .name = "scatter",
    .arity = {3, kMany},
    .dtypes = kAnyDType,
    .attributes = kScatterAttributes,
    .called = {1, 1},
    .infer = InferScatter,
    .axes = ScatterAxes,
    .part = PartBy(ScatterPart),
    .batch = BatchBy(ScatterBatch),
    .gradient = ByRule(ScatterGradient),
    .traits = kHasRegions,
    .summary =
        "Combines windows of updates with the elements of N inputs "
        "where index vectors say, in the updates' order; what falls "
        "outside is dropped.",
    .source = "StableHLO scatter; order: hawser"};

inline constexpr const OpDef* kScatterOps[] = {&kScatter};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_MOVEMENT_SCATTER_H_
