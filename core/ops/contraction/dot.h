// Products of matrices and their like.
#ifndef HAWSER_CORE_OPS_CONTRACTION_DOT_H_
#define HAWSER_CORE_OPS_CONTRACTION_DOT_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferDotGeneral(const InferContext& context);
AxisMap DotGeneralAxes(const InferContext&, absl::Span<const Shape> results);
absl::Status DotGeneralPart(PartContext&);
absl::Status DotGeneralSplit(SplitContext&);
absl::Status DotGeneralGradient(GradientContext&);

inline constexpr AttributeSpec kDotGeneralAttributes[] = {
    {"lhs_batching_dimensions", AttributeKind::kInts, true, "batch axes"},
    {"lhs_contracting_dimensions", AttributeKind::kInts, true, "summed axes"},
    {"rhs_batching_dimensions", AttributeKind::kInts, true, "their partners"},
    {"rhs_contracting_dimensions", AttributeKind::kInts, true,
     "their partners"},
};
// C1: the left side has one of the row's dtypes. C2: both sides have one
// dtype. C3: as many batch axes left as right. C4: as many contracting axes
// left as right. C5: all are axes of their side. C6: no axis of a side stands
// twice. C7: partnered batch axes have one size. C8: partnered contracting
// axes have one size. C9: the result is a shape.
inline constexpr OpDef kDotGeneral{
    .name = "dot_general",
    .arity = {2, 2},
    .dtypes = kNumbers,
    .attributes = kDotGeneralAttributes,
    .infer = InferDotGeneral,
    .axes = DotGeneralAxes,
    .part = PartBy(DotGeneralPart),
    .split = DotGeneralSplit,
    .gradient = ByRule(DotGeneralGradient),
    .ulp = 16,
    .summary =
        "Sums of products over the contracting axes, for each batch; "
        "axes of the result: batch, free left, free right.",
    .source = "StableHLO dot_general"};

inline constexpr const OpDef* kDotOps[] = {&kDotGeneral};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_CONTRACTION_DOT_H_
