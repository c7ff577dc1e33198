// The error function and its kin, the gamma function's, Bessel's.
#ifndef HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_SPECIAL_H_
#define HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_SPECIAL_H_

#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// "Operands" and "as usual": see elementwise.h. Everywhere here the result has
// x's shape and dtype, with integers and bool become f32. How far it may be
// off, in units in the last place, is said of each; f16 and bf16 are rounded
// once.

// The error function, to 4 ulp. x: an operand of reals. Result: as above.
// Errors: as usual; complex. Grad: 2 / sqrt(pi) e^(-x^2) g. Source: CHLO erf;
// Nx erf.
Tensor Erf(const Operand& x);

// 1 - Erf(x), exact where it is small, to 8 ulp. x: an operand of reals.
// Result: as above. Errors: as usual; complex. Grad: -2 / sqrt(pi) e^(-x^2) g.
// Source: CHLO erfc; Nx erfc.
Tensor Erfc(const Operand& x);

// The number whose Erf is x, to 8 ulp; NaN beyond -1 and 1, infinite there. x:
// an operand of reals. Result: as above. Errors: as usual; complex. Grad:
// sqrt(pi) / 2 e^(r^2) g. Source: CHLO erf_inv; Nx erf_inv.
Tensor ErfInv(const Operand& x);

// The logarithm of the size of the gamma function, to 8 ulp, of 1 where it is
// smaller; infinite at 0, -1, -2, ... x: an operand of reals. Result: as above.
// Errors: as usual; complex. Grad: Digamma(x) g. Source: CHLO lgamma; C lgamma.
Tensor Lgamma(const Operand& x);

// The slope of Lgamma, to 1 ulp in f32, which is computed in f64, and to 16 in
// f64, of 1 where it is smaller; NaN at 0, -1, -2, ... x: an operand of reals.
// Result: as above. Errors: as usual; complex. Grad: its own slope, at any
// order. Source: CHLO digamma.
Tensor Digamma(const Operand& x);

// e^-|x| times the modified Bessel function of order 0, to 16 ulp. x: an
// operand of reals. Result: as above. Errors: as usual; complex. Grad:
// (BesselI1e(x) - sign(x) r) g, with -r g at 0. Source: JAX bessel_i0e.
Tensor BesselI0e(const Operand& x);

// e^-|x| times the modified Bessel function of order 1, to 16 ulp. x: an
// operand of reals. Result: as above. Errors: as usual; complex. Grad:
// (BesselI0e(x) - r (sign(x) + 1 / x)) g, with g / 2 at 0. Source: CHLO
// bessel_i1e.
Tensor BesselI1e(const Operand& x);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_ELEMENTWISE_SPECIAL_H_
