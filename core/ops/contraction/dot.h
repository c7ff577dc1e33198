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
absl::StatusOr<std::vector<Expression>> DotGeneralBatch(BatchContext&);
absl::Status DotGeneralGradient(GradientContext&);

// True if a product of operands of dtype `from` may be made in `to`: a wider
// dtype of the same kind, which has every value of `from`.
bool WidensProduct(DType from, DType to);
// The dtype of a product of operands of dtype `from`.
DType ProductDType(const Attributes& attributes, DType from);

inline constexpr AttributeSpec kDotGeneralAttributes[] = {
    {"lhs_batching_dimensions", AttributeKind::kInts, true, "batch axes"},
    {"lhs_contracting_dimensions", AttributeKind::kInts, true, "summed axes"},
    {"result_dtype", AttributeKind::kDType, false,
     "a wider dtype that the operands are converted to first"},
    {"rhs_batching_dimensions", AttributeKind::kInts, true, "their partners"},
    {"rhs_contracting_dimensions", AttributeKind::kInts, true,
     "their partners"},
};
// C1: the left side has one of the row's dtypes. C2: both sides have one
// dtype. C3: as many batch axes left as right. C4: as many contracting axes
// left as right. C5: all are axes of their side. C6: no axis of a side stands
// twice. C7: partnered batch axes have one size. C8: partnered contracting
// axes have one size. C9: the result is a shape. C10: result_dtype is of the
// kind of the operands' dtype (signed, unsigned, float or complex) and has more
// bits; a product in the operands' own dtype has no result_dtype, so that every
// product has one form.
inline constexpr OpDef kDotGeneral{
    .name = "dot_general",
    .arity = {2, 2},
    .dtypes = kNumbers,
    .result = FromAttributeOrOperand("result_dtype", 0),
    .attributes = kDotGeneralAttributes,
    .infer = InferDotGeneral,
    .axes = DotGeneralAxes,
    .part = PartBy(DotGeneralPart),
    .split = DotGeneralSplit,
    .batch = BatchBy(DotGeneralBatch),
    .gradient = ByRule(DotGeneralGradient),
    .ulp = 16,
    .summary =
        "Sums of products over the contracting axes, for each batch; "
        "axes of the result: batch, free left, free right. With "
        "`result_dtype`, the product of the operands converted to it first.",
    .source = "StableHLO dot_general"};

inline constexpr const OpDef* kDotOps[] = {&kDotGeneral};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_CONTRACTION_DOT_H_
