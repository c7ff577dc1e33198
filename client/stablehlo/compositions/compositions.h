// Functions of CHLO as expressions over ops there are.
#ifndef HAWSER_CLIENT_STABLEHLO_COMPOSITIONS_COMPOSITIONS_H_
#define HAWSER_CLIENT_STABLEHLO_COMPOSITIONS_COMPOSITIONS_H_

#include "absl/types/span.h"
#include "client/stablehlo/body/row.h"
#include "core/ops/expression.h"

namespace hawser::stablehlo {

// The rows of all that is composed. Where core/ops has an op of that name, it
// is taken instead.
absl::Span<const Row> CompositionRows();

// ---- of reals, in f32 or f64 ----------------------------------------------

Expression Unary(const OpDef& op, const Expression& x);
Expression Binary(const OpDef& op, const Expression& x, const Expression& y);
Expression Square(const Expression& x);
// Whether an element is below a number, or above it.
Expression Below(const Expression& x, double y);
Expression Above(const Expression& x, double y);
// `size`, which is not negative, with the sign of x; x itself where x is 0.
Expression WithSignOf(const Expression& x, const Expression& size);
// c[0] + x (c[1] + x (c[2] + ...)).
Expression Polynomial(absl::Span<const double> c, const Expression& x);
// The sum of c[i] times Chebyshev's polynomial i, for u from -1 to 1.
Expression Chebyshev(absl::Span<const double> c, const Expression& u);

Expression Sinh(const Expression& x);
Expression Cosh(const Expression& x);
Expression Tan(const Expression& x);
Expression Asin(const Expression& x);
Expression Acos(const Expression& x);
Expression Atan(const Expression& x);
Expression Asinh(const Expression& x);
Expression Acosh(const Expression& x);
Expression Atanh(const Expression& x);

Expression Erf(const Expression& x);
Expression Erfc(const Expression& x);
Expression ErfInv(const Expression& x);
Expression Lgamma(const Expression& x);
Expression Digamma(const Expression& x);
Expression BesselI1e(const Expression& x);

// ---- of complex numbers, in c128 ------------------------------------------

Expression ComplexSinh(const Expression& z);
Expression ComplexCosh(const Expression& z);
Expression ComplexTan(const Expression& z);
Expression ComplexAsin(const Expression& z);
Expression ComplexAcos(const Expression& z);
Expression ComplexAtan(const Expression& z);
Expression ComplexAsinh(const Expression& z);
Expression ComplexAcosh(const Expression& z);
Expression ComplexAtanh(const Expression& z);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_COMPOSITIONS_COMPOSITIONS_H_
