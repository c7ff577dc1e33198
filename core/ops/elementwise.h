// Elementwise ops over operands of one dtype and one shape: twenty-odd rows
// over one family rule, and the few beside it.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_H_

#include "core/ir/op_def.h"
#include "core/ops/gradient_rules.h"
#include "core/ops/rules.h"

namespace hawser {

// C1: operand 0 has one of the row's dtypes. C2: all operands have one dtype.
// C3: all operands have the same sizes.
absl::StatusOr<Shapes> InferElementwise(const InferContext& context);
// C1: `operand` has one of the row's dtypes. C2: min, operand and max have one
// dtype. C3: min and max are scalars or have the operand's sizes.
absl::StatusOr<Shapes> InferClamp(const InferContext& context);

// A row of the family; fields the family does not decide are kept.
constexpr OpDef ElementwiseRow(int arity, OpDef row) {
  row.arity = {arity, arity};
  row.infer = InferElementwise;
  row.axes = ElementwiseAxes;
  row.traits |= kElementwise;
  return row;
}
constexpr OpDef Unary(OpDef row) { return ElementwiseRow(1, row); }
constexpr OpDef Binary(OpDef row) { return ElementwiseRow(2, row); }

inline constexpr DTypeSet kBits = kBoolOnly | kInts;
inline constexpr DTypeSet kOrdered = kBoolOnly | kReals;
inline constexpr DTypeSet kFloating = kFloats | kComplexes;

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
inline constexpr OpDef kExponential = Unary(
    {.name = "exponential",
     .dtypes = kFloating,
     .gradient = ByRule(ExponentialGradient),
     .ulp = 2,
     .summary = "e to the x.",
     .source = "StableHLO exponential"});
inline constexpr OpDef kExponentialMinusOne = Unary(
    {.name = "exponential_minus_one",
     .dtypes = kFloating,
     .gradient = ByRule(ExponentialMinusOneGradient),
     .ulp = 2,
     .summary = "e to the x, minus 1, exact near 0.",
     .source = "StableHLO exponential_minus_one"});
inline constexpr OpDef kLog = Unary(
    {.name = "log",
     .dtypes = kFloating,
     .gradient = ByRule(LogGradient),
     .ulp = 2,
     .summary = "Natural logarithm; NaN below 0, -Inf at 0.",
     .source = "StableHLO log"});
inline constexpr OpDef kLogPlusOne = Unary(
    {.name = "log_plus_one",
     .dtypes = kFloating,
     .gradient = ByRule(LogPlusOneGradient),
     .ulp = 2,
     .summary = "Natural logarithm of 1 + x, exact near 0.",
     .source = "StableHLO log_plus_one"});
inline constexpr OpDef kLogistic = Unary(
    {.name = "logistic",
     .dtypes = kFloating,
     .gradient = ByRule(LogisticGradient),
     .ulp = 4,
     .summary = "1 / (1 + e to the -x).",
     .source = "StableHLO logistic"});
inline constexpr OpDef kSqrt = Unary(
    {.name = "sqrt",
     .dtypes = kFloating,
     .gradient = ByRule(SqrtGradient),
     .summary = "Square root; NaN below 0.",
     .source = "StableHLO sqrt"});
inline constexpr OpDef kRsqrt = Unary(
    {.name = "rsqrt",
     .dtypes = kFloating,
     .gradient = ByRule(RsqrtGradient),
     .ulp = 2,
     .summary = "1 / square root.",
     .source = "StableHLO rsqrt"});
inline constexpr OpDef kSine = Unary(
    {.name = "sine",
     .dtypes = kFloating,
     .gradient = ByRule(SineGradient),
     .ulp = 4,
     .summary = "Sine of radians.",
     .source = "StableHLO sine"});
inline constexpr OpDef kCosine = Unary(
    {.name = "cosine",
     .dtypes = kFloating,
     .gradient = ByRule(CosineGradient),
     .ulp = 4,
     .summary = "Cosine of radians.",
     .source = "StableHLO cosine"});
inline constexpr OpDef kTanh = Unary(
    {.name = "tanh",
     .dtypes = kFloating,
     .gradient = ByRule(TanhGradient),
     .ulp = 4,
     .summary = "Hyperbolic tangent.",
     .source = "StableHLO tanh"});
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
     .summary = "x * y; integers wrap.",
     .source = "StableHLO multiply"});
inline constexpr OpDef kDivide = Binary(
    {.name = "divide",
     .dtypes = kNumbers,
     .gradient = ByRule(DivideGradient),
     .summary = "x / y; integers towards 0, x / 0 = all ones, MIN / -1 = MIN.",
     .source = "StableHLO divide; corners: house, section 9"});
inline constexpr OpDef kRemainder = Binary(
    {.name = "remainder",
     .dtypes = kReals,
     .gradient = ByRule(RemainderGradient),
     .summary = "x - y * trunc(x / y), sign of x; integer x % 0 = x, "
                "MIN % -1 = 0.",
     .source = "StableHLO remainder; corners: house, section 9"});
inline constexpr OpDef kPower = Binary(
    {.name = "power",
     .dtypes = kNumbers,
     .gradient = ByRule(PowerGradient),
     .ulp = 16,
     .summary = "x to the y; integers wrap, x to a negative y is 1 of 1, "
                "+-1 of -1, else 0.",
     .source = "StableHLO power; integer corner: XLA's evaluator"});
inline constexpr OpDef kAtan2 = Binary(
    {.name = "atan2",
     .dtypes = kFloats,
     .gradient = ByRule(Atan2Gradient),
     .ulp = 4,
     .summary = "Angle of the point (y, x), operands in this order.",
     .source = "StableHLO atan2"});
inline constexpr OpDef kMaximum = Binary(
    {.name = "maximum",
     .dtypes = kOrdered,
     .gradient = ByRule(ExtremeGradient),
     .traits = kCommutative,
     .summary = "The larger; NaN wins, -0 is below +0; `or` of bool.",
     .source = "StableHLO maximum"});
inline constexpr OpDef kMinimum = Binary(
    {.name = "minimum",
     .dtypes = kOrdered,
     .gradient = ByRule(ExtremeGradient),
     .traits = kCommutative,
     .summary = "The smaller; NaN wins, -0 is below +0; `and` of bool.",
     .source = "StableHLO minimum"});
inline constexpr OpDef kAnd = Binary(
    {.name = "and",
     .dtypes = kBits,
     .gradient = kZeroGradient,
     .traits = kCommutative,
     .summary = "Bits set in both.",
     .source = "StableHLO and"});
inline constexpr OpDef kOr = Binary(
    {.name = "or",
     .dtypes = kBits,
     .gradient = kZeroGradient,
     .traits = kCommutative,
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
    .gradient = ByRule(ClampGradient),
    .traits = kElementwise,
    .summary = "min(max(operand, low), high) of operands (low, operand, "
               "high); the bounds may be scalars.",
    .source = "StableHLO clamp"};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_H_
