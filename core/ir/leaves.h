// The two ops the IR itself must know: `parameter` gives a computation its
// arguments and stands before all other instructions; `constant` holds a value.
#ifndef HAWSER_CORE_IR_LEAVES_H_
#define HAWSER_CORE_IR_LEAVES_H_

#include "core/ir/op_def.h"

namespace hawser {

absl::StatusOr<Shapes> InferFromShapeAttributes(const InferContext& context);
absl::StatusOr<Shapes> InferConstant(const InferContext& context);
AxisMap AllResultAxesParallel(const InferContext& context,
                              absl::Span<const Shape> results);

inline constexpr AttributeSpec kShapeAttributes[] = {
    {"dims", AttributeKind::kInts, true, "sizes of the axes"},
    {"dtype", AttributeKind::kDType, true, "element type"},
};

// C1: dtype and dims make a shape (rank <= 16, sizes >= 0, below 2^62 bytes).
inline constexpr OpDef kParameter{
    .name = "parameter",
    .arity = {0, 0},
    .dtypes = kAnyDType,
    .result = FromAttribute("dtype"),
    .attributes = kShapeAttributes,
    .infer = InferFromShapeAttributes,
    .axes = AllResultAxesParallel,
    .part = kLeafPart,
    .gradient = kZeroGradient,
    .traits = kNullary | kHawserOnly,
    .summary = "An argument of the computation, numbered by its place.",
    .source = "hawser; StableHLO functions take block arguments instead"};

inline constexpr AttributeSpec kConstantAttributes[] = {
    {"value", AttributeKind::kLiteral, true, "the value"},
};

// C1: the value is there. Values above 4 KiB should be arguments instead; the
// wire's limits refuse a module whose constants are large in sum.
inline constexpr OpDef kConstant{
    .name = "constant",
    .arity = {0, 0},
    .dtypes = kAnyDType,
    .result = FromAttribute("value"),
    .attributes = kConstantAttributes,
    .infer = InferConstant,
    .axes = AllResultAxesParallel,
    .part = kLeafPart,
    .gradient = kZeroGradient,
    .traits = kNullary,
    .summary = "A value known when the graph is built.",
    .source = "StableHLO constant"};

inline constexpr const OpDef* kLeafOps[] = {&kParameter, &kConstant};

}  // namespace hawser
#endif  // HAWSER_CORE_IR_LEAVES_H_
