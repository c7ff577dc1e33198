// Functions of mathematics, element by element.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_MATH_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_MATH_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// "Operands" and "as usual": see elementwise.h. Everywhere here the result has
// x's shape and dtype, with integers and bool become f32. Outside a function's
// domain the result is NaN, at its poles infinite. Functions of one op keep to
// the ulp of its row (core/ops/README.md), inverse and hyperbolic ones to 8 in
// each real dtype; complex numbers count by their magnitude.

// ---- exponentials and logarithms -------------------------------------------

// e to the power x. x: an operand of numbers. Result: as above. Errors: as
// usual. Grad: result * g. Source: StableHLO exponential; Nx exp.
Tensor Exp(const Operand& x);

// e to the power x, minus 1; exact near 0. x: an operand of numbers. Result: as
// above. Errors: as usual. Grad: e^x g. Source: StableHLO
// exponential_minus_one; Nx expm1.
Tensor Expm1(const Operand& x);

// The natural logarithm. x: an operand of numbers. Result: as above. Errors: as
// usual. Grad: g / x. Source: StableHLO log; Nx log.
Tensor Log(const Operand& x);

// The logarithm to any base: log(x) / log(base). x, base: operands of numbers.
// Result: the broadcast shape, the promoted dtype, f32 of two integers. Errors:
// as usual. Grad: that of its parts. Source: Nx log.
Tensor Log(const Operand& x, const Operand& base);

// The natural logarithm of 1 + x; exact near 0. x: an operand of numbers.
// Result: as above. Errors: as usual. Grad: g / (1 + x). Source: StableHLO
// log_plus_one; Nx log1p.
Tensor Log1p(const Operand& x);

// The logarithm to base 2. x: an operand of numbers. Result: as above. Errors:
// as usual. Grad: g / (x log 2). Source: Nx log2.
Tensor Log2(const Operand& x);

// The logarithm to base 10. x: an operand of numbers. Result: as above. Errors:
// as usual. Grad: g / (x log 10). Source: Nx log10.
Tensor Log10(const Operand& x);

// 1 / (1 + e^-x). x: an operand of numbers. Result: as above. Errors: as usual.
// Grad: r (1 - r) g. Source: StableHLO logistic; Nx sigmoid.
Tensor Sigmoid(const Operand& x);

// ---- roots -----------------------------------------------------------------

// The square root. x: an operand of numbers. Result: as above. Errors: as
// usual. Grad: g / (2 r). Source: StableHLO sqrt; Nx sqrt.
Tensor Sqrt(const Operand& x);

// 1 / sqrt(x). x: an operand of numbers. Result: as above. Errors: as usual.
// Grad: -r^3 g / 2. Source: StableHLO rsqrt; Nx rsqrt.
Tensor Rsqrt(const Operand& x);

// The cube root, with the sign of x; of a complex x that of a third of its
// angle. x: an operand of numbers. Result: as above. Errors: as usual. Grad: g /
// (3 r^2). Source: StableHLO cbrt; Nx cbrt.
Tensor Cbrt(const Operand& x);

// ---- angles, in radians ----------------------------------------------------

// The sine. x: an operand of numbers. Result: as above. Errors: as usual. Grad:
// cos(x) g. Source: StableHLO sine; Nx sin.
Tensor Sin(const Operand& x);

// The cosine. x: an operand of numbers. Result: as above. Errors: as usual.
// Grad: -sin(x) g. Source: StableHLO cosine; Nx cos.
Tensor Cos(const Operand& x);

// The tangent. x: an operand of numbers. Result: as above. Errors: as usual.
// Grad: (1 + r^2) g. Source: StableHLO tan; Nx tan.
Tensor Tan(const Operand& x);

// The angle in [-pi/2, pi/2] whose sine is x. x: an operand of numbers.
// Result: as above. Errors: as usual. Grad: g / sqrt(1 - x^2). Source: C99
// asin; Nx asin.
Tensor Asin(const Operand& x);

// The angle in [0, pi] whose cosine is x. x: an operand of numbers. Result:
// as above. Errors: as usual. Grad: -g / sqrt(1 - x^2). Source: C99 acos; Nx
// acos.
Tensor Acos(const Operand& x);

// The angle in [-pi/2, pi/2] whose tangent is x. x: an operand of numbers.
// Result: as above. Errors: as usual. Grad: g / (1 + x^2). Source: C99 atan;
// Nx atan.
Tensor Atan(const Operand& x);

// The angle of a complex number. x: an operand of numbers. Result: x's shape
// and the component's dtype; of a real x 0, or pi below 0. Errors: as usual.
// Grad: as Atan2. Source: Nx phase.
Tensor Phase(const Operand& x);

// ---- hyperbolic ------------------------------------------------------------

// The hyperbolic sine; exact near 0. x: an operand of numbers. Result: as
// above. Errors: as usual. Grad: cosh(x) g. Source: C99 sinh; Nx sinh.
Tensor Sinh(const Operand& x);

// The hyperbolic cosine. x: an operand of numbers. Result: as above. Errors: as
// usual. Grad: sinh(x) g. Source: C99 cosh; Nx cosh.
Tensor Cosh(const Operand& x);

// The hyperbolic tangent. x: an operand of numbers. Result: as above. Errors:
// as usual. Grad: (1 - r^2) g. Source: StableHLO tanh; Nx tanh.
Tensor Tanh(const Operand& x);

// The number whose hyperbolic sine is x; exact near 0. x: an operand of
// numbers. Result: as above. Errors: as usual. Grad: g / sqrt(x^2 + 1).
// Source: C99 asinh; Nx asinh.
Tensor Asinh(const Operand& x);

// The number from 0 up whose hyperbolic cosine is x. x: an operand of
// numbers. Result: as above. Errors: as usual. Grad: g / sqrt(x^2 - 1).
// Source: C99 acosh; Nx acosh.
Tensor Acosh(const Operand& x);

// The number whose hyperbolic tangent is x; exact near 0. x: an operand of
// numbers. Result: as above. Errors: as usual. Grad: g / (1 - x^2). Source:
// C99 atanh; Nx atanh.
Tensor Atanh(const Operand& x);

// ---- complex numbers -------------------------------------------------------

// The number with the other sign of its imaginary part. x: an operand of
// numbers. Result: x's shape; a real x becomes complex, c128 of f64, else c64.
// Errors: as usual. Grad: conjugated. Source: Nx conjugate.
Tensor Conjugate(const Operand& x);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_MATH_H_
