// Functions of mathematics, element by element: rows of the family of
// elementwise.h.
#ifndef HAWSER_CORE_OPS_ELEMENTWISE_MATH_H_
#define HAWSER_CORE_OPS_ELEMENTWISE_MATH_H_

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::Status ExponentialGradient(GradientContext&);
absl::Status ExponentialMinusOneGradient(GradientContext&);
absl::Status LogGradient(GradientContext&);
absl::Status LogPlusOneGradient(GradientContext&);
absl::Status LogisticGradient(GradientContext&);
absl::Status SqrtGradient(GradientContext&);
absl::Status RsqrtGradient(GradientContext&);
absl::Status CbrtGradient(GradientContext&);
absl::Status ErfGradient(GradientContext&);
absl::Status ErfcGradient(GradientContext&);
absl::Status LgammaGradient(GradientContext&);
absl::Status SineGradient(GradientContext&);
absl::Status CosineGradient(GradientContext&);
absl::Status TanGradient(GradientContext&);
absl::Status TanhGradient(GradientContext&);
absl::Status PowerGradient(GradientContext&);
absl::Status Atan2Gradient(GradientContext&);

inline constexpr OpDef kExponential = Unary(
    {.name = "exponential",
     .dtypes = kFloating,
     .gradient = ByRule(ExponentialGradient),
     .cost = CostClass::kFunction,
     .ulp = 2,
     .summary = "e to the x.",
     .source = "StableHLO exponential"});
inline constexpr OpDef kExponentialMinusOne = Unary(
    {.name = "exponential_minus_one",
     .dtypes = kFloating,
     .gradient = ByRule(ExponentialMinusOneGradient),
     .cost = CostClass::kFunction,
     .ulp = 2,
     .summary = "e to the x, minus 1, exact near 0.",
     .source = "StableHLO exponential_minus_one"});
inline constexpr OpDef kLog = Unary(
    {.name = "log",
     .dtypes = kFloating,
     .gradient = ByRule(LogGradient),
     .cost = CostClass::kFunction,
     .ulp = 2,
     .summary = "Natural logarithm; NaN below 0, -Inf at 0.",
     .source = "StableHLO log"});
inline constexpr OpDef kLogPlusOne = Unary(
    {.name = "log_plus_one",
     .dtypes = kFloating,
     .gradient = ByRule(LogPlusOneGradient),
     .cost = CostClass::kFunction,
     .ulp = 2,
     .summary = "Natural logarithm of 1 + x, exact near 0.",
     .source = "StableHLO log_plus_one"});
inline constexpr OpDef kLogistic = Unary(
    {.name = "logistic",
     .dtypes = kFloating,
     .gradient = ByRule(LogisticGradient),
     .cost = CostClass::kFunction,
     .ulp = 4,
     .summary = "1 / (1 + e to the -x).",
     .source = "StableHLO logistic"});
inline constexpr OpDef kSqrt = Unary(
    {.name = "sqrt",
     .dtypes = kFloating,
     .gradient = ByRule(SqrtGradient),
     .cost = CostClass::kDivision,
     .summary = "Square root; NaN below 0.",
     .source = "StableHLO sqrt"});
inline constexpr OpDef kRsqrt = Unary(
    {.name = "rsqrt",
     .dtypes = kFloating,
     .gradient = ByRule(RsqrtGradient),
     .cost = CostClass::kDivision,
     .ulp = 2,
     .summary = "1 / square root.",
     .source = "StableHLO rsqrt"});
inline constexpr OpDef kCbrt = Unary(
    {.name = "cbrt",
     .dtypes = kFloats,
     .gradient = ByRule(CbrtGradient),
     .cost = CostClass::kFunction,
     .ulp = 4,
     .summary = "Cube root, with the sign of x.",
     .source = "StableHLO cbrt; C cbrt"});
inline constexpr OpDef kErf = Unary(
    {.name = "erf",
     .dtypes = kFloats,
     .gradient = ByRule(ErfGradient),
     .cost = CostClass::kFunction,
     .ulp = 4,
     .summary = "The error function: 2 / sqrt(pi) times the integral of "
                "e^(-t^2) from 0 to x.",
     .source = "CHLO erf; C erf"});
inline constexpr OpDef kErfc = Unary(
    {.name = "erfc",
     .dtypes = kFloats,
     .gradient = ByRule(ErfcGradient),
     .cost = CostClass::kLong,
     .ulp = 8,
     .summary = "1 - erf(x), exact where it is small.",
     .source = "CHLO erfc; C erfc"});
inline constexpr OpDef kLgamma = Unary(
    {.name = "lgamma",
     .dtypes = kFloats,
     .gradient = ByRule(LgammaGradient),
     .cost = CostClass::kLong,
     .ulp = 8,
     .summary = "Logarithm of the size of the gamma function; infinite at 0, "
                "-1, -2, ...; between these the ulp are of 1 where it is "
                "smaller.",
     .source = "CHLO lgamma; C lgamma"});
inline constexpr OpDef kSine = Unary(
    {.name = "sine",
     .dtypes = kFloating,
     .gradient = ByRule(SineGradient),
     .cost = CostClass::kLong,
     .ulp = 4,
     .summary = "Sine of radians.",
     .source = "StableHLO sine"});
inline constexpr OpDef kCosine = Unary(
    {.name = "cosine",
     .dtypes = kFloating,
     .gradient = ByRule(CosineGradient),
     .cost = CostClass::kLong,
     .ulp = 4,
     .summary = "Cosine of radians.",
     .source = "StableHLO cosine"});
inline constexpr OpDef kTan = Unary(
    {.name = "tan",
     .dtypes = kFloating,
     .gradient = ByRule(TanGradient),
     .cost = CostClass::kLong,
     .ulp = 4,
     .summary = "Tangent of radians.",
     .source = "StableHLO tan"});
inline constexpr OpDef kTanh = Unary(
    {.name = "tanh",
     .dtypes = kFloating,
     .gradient = ByRule(TanhGradient),
     .cost = CostClass::kFunction,
     .ulp = 4,
     .summary = "Hyperbolic tangent.",
     .source = "StableHLO tanh"});
inline constexpr OpDef kPower = Binary(
    {.name = "power",
     .dtypes = kNumbers,
     .gradient = ByRule(PowerGradient),
     .cost = CostClass::kLong,
     .ulp = 16,
     .summary = "x to the y; integers wrap, x to a negative y is 1 of 1, "
                "+-1 of -1, else 0.",
     .source = "StableHLO power; integer corner: XLA's evaluator"});
inline constexpr OpDef kAtan2 = Binary(
    {.name = "atan2",
     .dtypes = kFloats,
     .gradient = ByRule(Atan2Gradient),
     .cost = CostClass::kLong,
     .ulp = 4,
     .summary = "Angle of the point (y, x), operands in this order.",
     .source = "StableHLO atan2"});

inline constexpr const OpDef* kMathOps[] = {
    &kExponential, &kExponentialMinusOne, &kLog, &kLogPlusOne, &kLogistic,
    &kSqrt, &kRsqrt, &kCbrt, &kErf, &kErfc, &kLgamma, &kSine, &kCosine,
    &kTan, &kTanh, &kPower, &kAtan2};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_ELEMENTWISE_MATH_H_
