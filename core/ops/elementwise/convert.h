// Changes of dtype.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_CONVERT_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_CONVERT_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferConvert(const InferContext& context);
absl::StatusOr<Shapes> InferBitcastConvert(const InferContext& context);
AxisMap BitcastConvertAxes(const InferContext& context,
                           absl::Span<const Shape> results);
absl::Status BitcastConvertPart(PartContext&);
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
    .batch = BatchBy(ElementwiseBatch),
    .gradient = ByRule(ConvertGradient),
    .traits = kElementwise,
    .summary =
        "The same numbers in another dtype: floats round to nearest "
        "even, integers wrap, float to integer truncates and "
        "saturates (NaN gives 0), to bool is x != 0, from complex "
        "takes the real part, also to bool.",
    .source = "StableHLO convert; corners: house, section 9"};

// Bits of an element for `bitcast_convert`: 1 of bool.
int BitsOfElement(DType dtype);
// True if a `bitcast_convert` between them keeps the sizes.
bool SameWidth(DType from, DType to);

// C1: both dtypes are among the row's. C2: both are complex or neither is. C3:
// where the result's elements are wider, the operand's last axis holds as many
// as one of them is made of.
inline constexpr OpDef kBitcastConvert{
    .name = "bitcast_convert",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .result = FromAttribute("dtype"),
    .attributes = kConvertAttributes,
    .infer = InferBitcastConvert,
    .axes = BitcastConvertAxes,
    .part = PartBy(BitcastConvertPart),
    .batch = BatchByEdits({}),
    .gradient = kNotDifferentiable,
    .summary =
        "The same bits read as another dtype: narrower elements lie "
        "along a new last axis, wider ones are made of the last axis, "
        "which vanishes; the lowest bits come first, and a bool is "
        "one bit.",
    .source = "StableHLO bitcast_convert"};

inline constexpr const OpDef* kConvertOps[] = {&kConvert, &kBitcastConvert};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_CONVERT_H_
