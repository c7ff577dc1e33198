// Ops on the bits of integers and floats: rows of the family of elementwise.h.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_BITS_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_BITS_H_

#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

// Bits of a float's exponent and, without the leading one, of its fraction.
struct FloatBits {
  int exponent = 0, mantissa = 0;
};
FloatBits FloatBitsOf(DType dtype);
// Returns the precision of a verified `reduce_precision`: at most what the
// dtype has, so that more says the same.
FloatBits PrecisionOf(const Attributes& attributes, DType dtype);

// C1 to C3 as InferElementwise. C4: exponent_bits is at least 1. C5:
// mantissa_bits is at least 0.
absl::StatusOr<Shapes> InferReducePrecision(const InferContext& context);

absl::Status ReducePrecisionGradient(GradientContext&);

inline constexpr OpDef kPopcnt = Unary({.name = "popcnt",
                                        .dtypes = kInts,
                                        .gradient = kZeroGradient,
                                        .summary = "How many bits are set.",
                                        .source = "StableHLO popcnt"});
inline constexpr OpDef kCountLeadingZeros = Unary(
    {.name = "count_leading_zeros",
     .dtypes = kInts,
     .gradient = kZeroGradient,
     .summary = "How many bits before the highest that is set; of 0 the width.",
     .source = "StableHLO count_leading_zeros"});

inline constexpr AttributeSpec kReducePrecisionAttributes[] = {
    {"exponent_bits", AttributeKind::kInt, true, "at least 1"},
    {"mantissa_bits", AttributeKind::kInt, true, "at least 0"},
};

inline constexpr OpDef kReducePrecision{
    .name = "reduce_precision",
    .arity = {1, 1},
    .dtypes = kFloats,
    .attributes = kReducePrecisionAttributes,
    .infer = InferReducePrecision,
    .axes = ElementwiseAxes,
    .part = PartBy(ElementwisePart),
    .batch = BatchBy(ElementwiseBatch),
    .gradient = ByRule(ReducePrecisionGradient),
    .traits = kElementwise,
    .summary =
        "x as a float of so many bits would hold it: rounded to nearest "
        "even, infinite beyond the largest, 0 below the smallest normal "
        "one; NaN stays.",
    .source = "StableHLO reduce_precision"};

inline constexpr const OpDef* kBitsOps[] = {&kPopcnt, &kCountLeadingZeros,
                                            &kReducePrecision};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_BITS_H_
