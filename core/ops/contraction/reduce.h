// Reductions: many elements along axes become one.
#ifndef HAWSER_CORE_OPS_CONTRACTION_REDUCE_H_
#define HAWSER_CORE_OPS_CONTRACTION_REDUCE_H_

#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferReduce(const InferContext& context);
absl::StatusOr<Shapes> InferArgExtreme(const InferContext& context);

AxisMap ReduceAxes(const InferContext&, absl::Span<const Shape> results);
AxisMap ArgExtremeAxes(const InferContext&, absl::Span<const Shape> results);

absl::Status ReducePart(PartContext&);
absl::Status ArgExtremePart(PartContext&);

absl::Status ReduceSplit(SplitContext&);
absl::Status ArgExtremeSplit(SplitContext&);

absl::StatusOr<std::vector<Expression>> ReduceBatch(BatchContext&);
absl::Status ReduceGradient(GradientContext&);

// The monoid that result k of a reduction's or a scatter's computation is, of
// running value k and element k alone; nullptr where it is anything else.
const OpDef* MonoidOf(const Computation& computation, int k = 0);
// A scalar, the neutral element of a monoid that takes `dtype`.
Literal NeutralOf(const OpDef& monoid, DType dtype);

inline constexpr AttributeSpec kReduceAttributes[] = {
    {"dimensions", AttributeKind::kInts, true, "the axes to reduce"},
};
// Operands are N inputs, then N initial values.
// C1: there are as many initial values as inputs. C2: all inputs have the same
// sizes. C3: each initial value is a scalar of its input's dtype. C4:
// dimensions are axes. C5: no two are the same. C6: the computation takes 2N
// scalars of the inputs' dtypes: N running values, then N elements. C7: it
// gives the N running values.
inline constexpr OpDef kReduce{
    .name = "reduce",
    .arity = {2, kMany},
    .dtypes = kAnyDType,
    .attributes = kReduceAttributes,
    .called = {1, 1},
    .infer = InferReduce,
    .axes = ReduceAxes,
    .part = PartBy(ReducePart),
    .split = ReduceSplit,
    .batch = {ReduceBatch, kShiftedDimensions},
    .gradient = ByRule(ReduceGradient),
    .traits = kHasRegions,
    .ulp = 16,
    .summary =
        "Folds N inputs along axes at once with a computation that is "
        "taken to be associative and commutative, from N initial "
        "values that are taken to be its neutral elements.",
    .source = "StableHLO reduce"};

inline constexpr AttributeSpec kArgExtremeAttributes[] = {
    {"dimension", AttributeKind::kInt, true, "the axis to search"},
    {"dtype", AttributeKind::kDType, false, "of the result; s32 if left out"},
    {"tie", AttributeKind::kString, false,
     "which of equals: low (if left out) or high"},
};

constexpr OpDef ArgExtreme(OpDef row) {
  row.arity = {1, 1};
  row.dtypes = kBoolOnly | kReals;
  row.result = FromAttribute("dtype", DType::kS32);
  row.attributes = kArgExtremeAttributes;
  row.infer = InferArgExtreme;
  row.axes = ArgExtremeAxes;
  row.part = PartBy(ArgExtremePart);
  row.split = ArgExtremeSplit;
  row.batch = BatchByEdits(kShiftedDimension);
  row.gradient = kZeroGradient;
  row.traits = kHawserOnly;
  return row;
}

// Both: C1: the operand has one of the row's dtypes. C2: dimension is an axis.
// C3: the axis is not empty. C4: dtype is s32, s64, u32 or u64. C5: tie is low
// or high. C6: the last index fits the dtype.
inline constexpr OpDef kArgMax = ArgExtreme(
    {.name = "argmax",
     .summary = "Index of the largest along an axis; NaN counts as the "
                "largest, -0 equals 0.",
     .source = "hawser; Nx argmax"});
inline constexpr OpDef kArgMin = ArgExtreme(
    {.name = "argmin",
     .summary = "Index of the smallest along an axis; NaN counts as the "
                "smallest, -0 equals 0.",
     .source = "hawser; Nx argmin"});

inline constexpr const OpDef* kReduceOps[] = {&kReduce, &kArgMax, &kArgMin};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_CONTRACTION_REDUCE_H_
