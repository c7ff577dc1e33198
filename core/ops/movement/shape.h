// Ops that make, repeat or rearrange elements by position alone.
#ifndef HAWSER_CORE_OPS_MOVEMENT_SHAPE_H_
#define HAWSER_CORE_OPS_MOVEMENT_SHAPE_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferIota(const InferContext& context);
absl::StatusOr<Shapes> InferBroadcastInDim(const InferContext& context);
absl::StatusOr<Shapes> InferReshape(const InferContext& context);
absl::StatusOr<Shapes> InferTranspose(const InferContext& context);
absl::StatusOr<Shapes> InferConcatenate(const InferContext& context);
absl::StatusOr<Shapes> InferReverse(const InferContext& context);
absl::StatusOr<Shapes> InferPad(const InferContext& context);

AxisMap IotaAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap BroadcastInDimAxes(const InferContext&, absl::Span<const Shape>);
AxisMap ReshapeAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap TransposeAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap ConcatenateAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap ReverseAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap PadAxes(const InferContext&, absl::Span<const Shape> results);

absl::Status IotaPart(PartContext&);
absl::Status BroadcastInDimPart(PartContext&);
absl::Status ReshapePart(PartContext&);
absl::Status TransposePart(PartContext&);
absl::Status ConcatenatePart(PartContext&);
absl::Status ReversePart(PartContext&);
absl::Status PadPart(PartContext&);

absl::StatusOr<std::vector<Expression>> PadBatch(BatchContext&);
absl::Status BroadcastInDimGradient(GradientContext&);
absl::Status ReshapeGradient(GradientContext&);
absl::Status TransposeGradient(GradientContext&);
absl::Status ConcatenateGradient(GradientContext&);
absl::Status ReverseGradient(GradientContext&);
absl::Status PadGradient(GradientContext&);

inline constexpr AttributeSpec kIotaAttributes[] = {
    {"dims", AttributeKind::kInts, true, "sizes of the result"},
    {"dtype", AttributeKind::kDType, true, "dtype of the result"},
    {"iota_dimension", AttributeKind::kInt, true, "the axis that counts"},
};
// C1: dtype is among the row's. C2: dims make a shape. C3: iota_dimension is
// an axis of it.
inline constexpr OpDef kIota{
    .name = "iota",
    .arity = {0, 0},
    .dtypes = kNumbers,
    .result = FromAttribute("dtype"),
    .attributes = kIotaAttributes,
    .infer = InferIota,
    .axes = IotaAxes,
    .part = PartBy(IotaPart),
    .gradient = kZeroGradient,
    .traits = kNullary,
    .summary = "0, 1, 2, ... along an axis, converted to the dtype.",
    .source = "StableHLO iota"};

inline constexpr AttributeSpec kBroadcastInDimAttributes[] = {
    {"broadcast_dimensions", AttributeKind::kInts, true,
     "axis of the result for each axis of the operand"},
    {"dims", AttributeKind::kInts, true, "sizes of the result"},
};
inline constexpr AttributeEdit kBroadcastInDimEdits[] = {
    {"broadcast_dimensions", AttributeEdit::kShiftAnd0},
    {"dims", AttributeEdit::kFrontSize}};
// C1: dims make a shape. C2: one broadcast dimension per axis of the operand.
// C3: each is an axis of the result. C4: no two are the same. C5: each axis of
// the operand has size 1 or the size it becomes.
inline constexpr OpDef kBroadcastInDim{
    .name = "broadcast_in_dim",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .attributes = kBroadcastInDimAttributes,
    .infer = InferBroadcastInDim,
    .axes = BroadcastInDimAxes,
    .part = PartBy(BroadcastInDimPart),
    .batch = BatchByEdits(kBroadcastInDimEdits),
    .gradient = ByRule(BroadcastInDimGradient),
    .traits = kDataMovement,
    .summary = "Repeats the operand along new axes and axes of size 1.",
    .source = "StableHLO broadcast_in_dim"};

inline constexpr AttributeSpec kReshapeAttributes[] = {
    {"dims", AttributeKind::kInts, true, "sizes of the result"},
};
inline constexpr AttributeEdit kReshapeEdits[] = {
    {"dims", AttributeEdit::kFrontSize}};
// C1: dims make a shape. C2: it has as many elements as the operand.
inline constexpr OpDef kReshape{
    .name = "reshape",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .attributes = kReshapeAttributes,
    .infer = InferReshape,
    .axes = ReshapeAxes,
    .part = PartBy(ReshapePart),
    .batch = BatchByEdits(kReshapeEdits),
    .gradient = ByRule(ReshapeGradient),
    .traits = kDataMovement,
    .summary = "The same elements in row-major order under other axes.",
    .source = "StableHLO reshape"};

inline constexpr AttributeSpec kTransposeAttributes[] = {
    {"permutation", AttributeKind::kInts, true,
     "axis of the operand for each axis of the result"},
};
inline constexpr AttributeEdit kTransposeEdits[] = {
    {"permutation", AttributeEdit::kShiftAnd0}};
// C1: permutation is a permutation of the operand's axes.
inline constexpr OpDef kTranspose{.name = "transpose",
                                  .arity = {1, 1},
                                  .dtypes = kAnyDType,
                                  .attributes = kTransposeAttributes,
                                  .infer = InferTranspose,
                                  .axes = TransposeAxes,
                                  .part = PartBy(TransposePart),
                                  .batch = BatchByEdits(kTransposeEdits),
                                  .gradient = ByRule(TransposeGradient),
                                  .traits = kDataMovement,
                                  .summary = "Reorders the axes.",
                                  .source = "StableHLO transpose"};

inline constexpr AttributeSpec kConcatenateAttributes[] = {
    {"dimension", AttributeKind::kInt, true, "the axis to join along"},
};
// C1: all operands have one dtype. C2: dimension is an axis. C3: all operands
// have the same sizes besides that axis. C4: the result is a shape.
inline constexpr OpDef kConcatenate{
    .name = "concatenate",
    .arity = {1, kMany},
    .dtypes = kAnyDType,
    .attributes = kConcatenateAttributes,
    .infer = InferConcatenate,
    .axes = ConcatenateAxes,
    .part = PartBy(ConcatenatePart),
    .batch = BatchByEdits(kShiftedDimension),
    .gradient = ByRule(ConcatenateGradient),
    .traits = kDataMovement,
    .summary = "Joins operands along an axis, in order.",
    .source = "StableHLO concatenate"};

inline constexpr AttributeSpec kReverseAttributes[] = {
    {"dimensions", AttributeKind::kInts, true, "the axes to reverse"},
};
// C1: dimensions are axes. C2: no two are the same.
inline constexpr OpDef kReverse{
    .name = "reverse",
    .arity = {1, 1},
    .dtypes = kAnyDType,
    .attributes = kReverseAttributes,
    .infer = InferReverse,
    .axes = ReverseAxes,
    .part = PartBy(ReversePart),
    .batch = BatchByEdits(kShiftedDimensions),
    .gradient = ByRule(ReverseGradient),
    .traits = kDataMovement,
    .summary = "Reverses the order of elements along axes.",
    .source = "StableHLO reverse"};

inline constexpr AttributeSpec kPadAttributes[] = {
    {"edge_padding_high", AttributeKind::kInts, true,
     "elements after each axis; negative ones are cut off"},
    {"edge_padding_low", AttributeKind::kInts, true,
     "elements before each axis; negative ones are cut off"},
    {"interior_padding", AttributeKind::kInts, true,
     "elements between any two of each axis"},
};
inline constexpr AttributeEdit kPadEdits[] = {
    {"edge_padding_high", AttributeEdit::kFront0},
    {"edge_padding_low", AttributeEdit::kFront0},
    {"interior_padding", AttributeEdit::kFront0}};
// C1: operand and padding value have one dtype. C2: the padding value is a
// scalar. C3: one entry per axis in each attribute. C4: interior padding is
// not negative. C5: the result is a shape.
inline constexpr OpDef kPad{
    .name = "pad",
    .arity = {2, 2},
    .dtypes = kAnyDType,
    .attributes = kPadAttributes,
    .infer = InferPad,
    .axes = PadAxes,
    .part = PartBy(PadPart),
    .batch = {PadBatch, kPadEdits},
    .gradient = ByRule(PadGradient),
    .traits = kDataMovement,
    .summary =
        "Adds the value of operand 1 around and between the elements "
        "of operand 0.",
    .source = "StableHLO pad"};

inline constexpr const OpDef* kShapeOps[] = {
    &kIota,        &kBroadcastInDim, &kReshape, &kTranspose,
    &kConcatenate, &kReverse,        &kPad};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_MOVEMENT_SHAPE_H_
