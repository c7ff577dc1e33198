// Changes of dtype.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_CONVERT_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_CONVERT_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferConvert(const InferContext& context);
absl::StatusOr<Shapes> InferBitcastConvert(const InferContext& context);
absl::Status ConvertGradient(GradientContext&);

inline constexpr AttributeSpec kConvertAttributes[] = {
    {"dtype", AttributeKind::kDType, true, "dtype of the result"},
};

// C1: both dtypes are among the row's; the result is a shape.
inline constexpr OpDef kConvert{
    .name = "convert",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .result = FromAttribute("dtype"),
    .attributes = kConvertAttributes,
    .infer = InferConvert,
    .axes = ElementwiseAxes,
    .part = PartBy(ElementwisePart),
    .gradient = ByRule(ConvertGradient),
    .traits = kElementwise,
    .summary =
        "The same numbers in another dtype: floats round to nearest "
        "even, integers wrap, float to integer truncates and "
        "saturates (NaN gives 0), to bool is x != 0, from complex "
        "takes the real part.",
    .source = "StableHLO convert; corners: house, section 9"};

// C1: both dtypes are among the row's. C2: both have the same width. C3: both
// are complex or neither is.
inline constexpr OpDef kBitcastConvert{
    .name = "bitcast_convert",
    .arity = {1, 1},
    .dtypes = kNumbers,
    .result = FromAttribute("dtype"),
    .attributes = kConvertAttributes,
    .infer = InferBitcastConvert,
    .axes = ElementwiseAxes,
    .part = PartBy(ElementwisePart),
    .gradient = kNotDifferentiable,
    .traits = kElementwise,
    .summary = "The same bits read as another dtype of the same width.",
    .source = "StableHLO bitcast_convert, equal widths only"};

inline constexpr const OpDef* kConvertOps[] = {&kConvert, &kBitcastConvert};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_CONVERT_H_
