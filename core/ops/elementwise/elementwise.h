// Elementwise ops over operands of one dtype and one shape: twenty-odd rows
// over one family rule, and the few besides it. Functions: math.h; counts and
// precisions: bits.h.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_ELEMENTWISE_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_ELEMENTWISE_H_

#include "core/ir/op_def.h"
#include "core/ops/elementwise/bits.h"  // the other rows of the family
#include "core/ops/elementwise/math.h"
#include "core/ops/rules.h"

namespace hawser {

// C1: `operand` has one of the row's dtypes. C2: min, operand and max have one
// dtype. C3: min and max are scalars or have the operand's sizes.
absl::StatusOr<Shapes> InferClamp(const InferContext& context);

absl::Status AbsGradient(GradientContext&);
absl::Status NegateGradient(GradientContext&);
absl::Status SignGradient(GradientContext&);
absl::Status RealGradient(GradientContext&);
absl::Status ImagGradient(GradientContext&);
absl::Status AddGradient(GradientContext&);
absl::Status SubtractGradient(GradientContext&);
absl::Status MultiplyGradient(GradientContext&);
absl::Status DivideGradient(GradientContext&);
absl::Status RemainderGradient(GradientContext&);
absl::Status ExtremeGradient(GradientContext&);
absl::Status ComplexGradient(GradientContext&);
absl::Status ClampGradient(GradientContext&);

// ---- unary ----------------------------------------------------------------

inline constexpr OpDef kAbs = Unary(
    {.name = "abs",
     .dtypes = kNumbers,
     .result = RealPartOf(0),
     .gradient = ByRule(AbsGradient),
     .summary = "|x|; the magnitude of a complex number; |MIN| = MIN.",
     .source = "StableHLO abs"});
inline constexpr OpDef kNegate = Unary(
    {.name = "negate",
     .dtypes = kNumbers,
     .gradient = ByRule(NegateGradient),
     .summary = "-x; integers wrap, unsigned ones too.",
     .source = "StableHLO negate"});
inline constexpr OpDef kSign = Unary(
    {.name = "sign",
     .dtypes = kNumbers,
     .gradient = ByRule(SignGradient),
     .summary = "-1, 0 or 1; keeps -0 and NaN; x / |x| for complex numbers.",
     .source = "StableHLO sign"});
inline constexpr OpDef kFloor = Unary(
    {.name = "floor",
     .dtypes = kFloats,
     .gradient = kZeroGradient,
     .summary = "The largest whole number not above x.",
     .source = "StableHLO floor"});
inline constexpr OpDef kCeil = Unary(
    {.name = "ceil",
     .dtypes = kFloats,
     .gradient = kZeroGradient,
     .summary = "The smallest whole number not below x.",
     .source = "StableHLO ceil"});
inline constexpr OpDef kRoundNearestEven = Unary(
    {.name = "round_nearest_even",
     .dtypes = kFloats,
     .gradient = kZeroGradient,
     .summary = "The nearest whole number; ties go to the even one.",
     .source = "StableHLO round_nearest_even"});
inline constexpr OpDef kRoundNearestAfz = Unary(
    {.name = "round_nearest_afz",
     .dtypes = kFloats,
     .gradient = kZeroGradient,
     .summary = "The nearest whole number; ties go away from zero.",
     .source = "StableHLO round_nearest_afz"});
inline constexpr OpDef kIsFinite = Unary(
    {.name = "is_finite",
     .dtypes = kFloats,
     .result = Always(DType::kBool),
     .gradient = kZeroGradient,
     .summary = "Whether x is neither NaN nor infinite.",
     .source = "StableHLO is_finite"});
inline constexpr OpDef kNot = Unary(
    {.name = "not",
     .dtypes = kBits,
     .gradient = kZeroGradient,
     .summary = "Every bit flipped; logical not of bool.",
     .source = "StableHLO not"});
inline constexpr OpDef kReal = Unary(
    {.name = "real",
     .dtypes = kFloating,
     .result = RealPartOf(0),
     .gradient = ByRule(RealGradient),
     .summary = "The real part; a real number itself.",
     .source = "StableHLO real"});
inline constexpr OpDef kImag = Unary(
    {.name = "imag",
     .dtypes = kFloating,
     .result = RealPartOf(0),
     .gradient = ByRule(ImagGradient),
     .summary = "The imaginary part; 0 of a real number.",
     .source = "StableHLO imag"});

// ---- binary ---------------------------------------------------------------

inline constexpr OpDef kAdd = Binary(
    {.name = "add",
     .dtypes = kNumbers,
     .gradient = ByRule(AddGradient),
     .traits = kCommutative,
     .monoid = {"Sum", MonoidDef::kZero},
     .summary = "x + y; integers wrap.",
     .source = "StableHLO add"});
inline constexpr OpDef kSubtract = Binary(
    {.name = "subtract",
     .dtypes = kNumbers,
     .gradient = ByRule(SubtractGradient),
     .summary = "x - y; integers wrap.",
     .source = "StableHLO subtract"});
inline constexpr OpDef kMultiply = Binary(
    {.name = "multiply",
     .dtypes = kNumbers,
     .gradient = ByRule(MultiplyGradient),
     .traits = kCommutative,
     .monoid = {"Product", MonoidDef::kOne},
     .summary = "x * y; integers wrap.",
     .source = "StableHLO multiply"});
inline constexpr OpDef kDivide = Binary(
    {.name = "divide",
     .dtypes = kNumbers,
     .gradient = ByRule(DivideGradient),
     .cost = CostClass::kDivision,
     .summary = "x / y; integers towards 0, x / 0 = all ones, MIN / -1 = MIN.",
     .source = "StableHLO divide; corners: house, section 9"});
inline constexpr OpDef kRemainder = Binary(
    {.name = "remainder",
     .dtypes = kReals,
     .gradient = ByRule(RemainderGradient),
     .cost = CostClass::kLong,
     .summary = "x - y * trunc(x / y), sign of x; integer x % 0 = x, "
                "MIN % -1 = 0.",
     .source = "StableHLO remainder; corners: house, section 9"});
inline constexpr OpDef kMaximum = Binary(
    {.name = "maximum",
     .dtypes = kOrdered,
     .gradient = ByRule(ExtremeGradient),
     .traits = kCommutative,
     .monoid = {"Maximum", MonoidDef::kLowest},
     .summary = "The larger; NaN wins, -0 is below +0; `or` of bool.",
     .source = "StableHLO maximum"});
inline constexpr OpDef kMinimum = Binary(
    {.name = "minimum",
     .dtypes = kOrdered,
     .gradient = ByRule(ExtremeGradient),
     .traits = kCommutative,
     .monoid = {"Minimum", MonoidDef::kHighest},
     .summary = "The smaller; NaN wins, -0 is below +0; `and` of bool.",
     .source = "StableHLO minimum"});
inline constexpr OpDef kAnd = Binary(
    {.name = "and",
     .dtypes = kBits,
     .gradient = kZeroGradient,
     .traits = kCommutative,
     .monoid = {"And", MonoidDef::kAllBits},
     .summary = "Bits set in both.",
     .source = "StableHLO and"});
inline constexpr OpDef kOr = Binary(
    {.name = "or",
     .dtypes = kBits,
     .gradient = kZeroGradient,
     .traits = kCommutative,
     .monoid = {"Or", MonoidDef::kZero},
     .summary = "Bits set in either.",
     .source = "StableHLO or"});
inline constexpr OpDef kXor = Binary(
    {.name = "xor",
     .dtypes = kBits,
     .gradient = kZeroGradient,
     .traits = kCommutative,
     .summary = "Bits set in exactly one.",
     .source = "StableHLO xor"});
inline constexpr OpDef kShiftLeft = Binary(
    {.name = "shift_left",
     .dtypes = kInts,
     .gradient = kZeroGradient,
     .summary = "x << y; 0 when y is negative or at least the width.",
     .source = "StableHLO shift_left; corner: house, section 9"});
inline constexpr OpDef kShiftRightLogical = Binary(
    {.name = "shift_right_logical",
     .dtypes = kInts,
     .gradient = kZeroGradient,
     .summary = "x >> y filling with 0; 0 when y is negative or at least the "
                "width.",
     .source = "StableHLO shift_right_logical; corner: house, section 9"});
inline constexpr OpDef kShiftRightArithmetic = Binary(
    {.name = "shift_right_arithmetic",
     .dtypes = kInts,
     .gradient = kZeroGradient,
     .summary = "x >> y filling with the sign bit; all sign when y is "
                "negative or at least the width.",
     .source = "StableHLO shift_right_arithmetic; corner: house, section 9"});
inline constexpr OpDef kComplex = Binary(
    {.name = "complex",
     .dtypes = DTypeSet::Of(DType::kF32) | DTypeSet::Of(DType::kF64),
     .result = ComplexOf(0),
     .gradient = ByRule(ComplexGradient),
     .summary = "The complex number x + iy.",
     .source = "StableHLO complex"});

// ---- the odd one ----------------------------------------------------------

inline constexpr OpDef kClamp{
    .name = "clamp",
    .arity = {3, 3},
    .dtypes = kOrdered,
    .result = SameAs(1),
    .infer = InferClamp,
    .axes = ElementwiseAxes,
    .part = PartBy(ElementwisePart),
    .batch = BatchBy(ElementwiseBatch),
    .gradient = ByRule(ClampGradient),
    .traits = kElementwise,
    .summary =
        "min(max(operand, low), high) of operands (low, operand, "
        "high); the bounds may be scalars.",
    .source = "StableHLO clamp"};

inline constexpr const OpDef* kElementwiseOps[] = {
    &kAbs, &kNegate, &kSign, &kFloor, &kCeil, &kRoundNearestEven,
    &kRoundNearestAfz, &kIsFinite, &kNot, &kReal, &kImag, &kAdd, &kSubtract,
    &kMultiply, &kDivide, &kRemainder, &kMaximum, &kMinimum, &kAnd, &kOr,
    &kXor, &kShiftLeft, &kShiftRightLogical, &kShiftRightArithmetic, &kComplex,
    &kClamp};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_ELEMENTWISE_H_
