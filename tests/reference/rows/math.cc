// Functions of mathematics, by those of the C++ library: of reals in f64, of
// complex numbers in long double, as they cancel inside.
#include "core/ops/elementwise/math.h"

#include <cmath>

#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

using RealFn = double (*)(double);
using ComplexFn = WideComplex (*)(WideComplex);

template <RealFn Of, ComplexFn OfComplex>
Number Unary(DType dtype, Numbers x) {
  if (IsComplex(dtype)) return InDType(OfComplex(WideOf(x[0])), dtype);
  return Number::Of(Complex(Of(x[0].value.real()), 0));
}
template <RealFn Of>
Number OfReals(DType, Numbers x) {
  return Number::Of(Complex(Of(x[0].value.real()), 0));
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Rsqrt(double x) { return 1 / std::sqrt(x); }

WideComplex ExpMinusOne(WideComplex z) {
  if (std::isinf(z.real())) return std::exp(z) - Wide{1};
  const Wide half = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
          z.imag() == 0 ? z.imag() : std::exp(z.real()) * std::sin(z.imag())};
}
// |1 + z| squared is 1 + x (2 + x) + y y, which is exact near 0.
WideComplex LogPlusOne(WideComplex z) {
  const Wide x = z.real(), y = z.imag();
  const bool near = std::fabs(x) < 0.5 && std::fabs(y) < 0.5;
  return {near ? std::log1p(x * (2 + x) + y * y) / 2
               : std::log(std::hypot(1 + x, y)),
          std::atan2(y, 1 + x)};
}
WideComplex ComplexLogistic(WideComplex z) {
  return Wide{1} / (Wide{1} + std::exp(-z));
}
WideComplex ComplexRsqrt(WideComplex z) { return Wide{1} / std::sqrt(z); }

// Integers wrap, to powers of more places than they have too.
Number IntegerPower(DType dtype, uint64_t x, uint64_t y) {
  const auto sign = static_cast<int64_t>(x), power = static_cast<int64_t>(y);
  if (IsSigned(dtype) && power < 0) {
    if (sign == 1) return Number::Of(uint64_t{1});
    if (sign != -1) return Number::Of(uint64_t{0});
    return Number::Of(y % 2 == 0 ? uint64_t{1} : ~uint64_t{0});
  }
  uint64_t product = 1;
  for (; y != 0; y /= 2, x *= x) {
    if (y % 2 != 0) product *= x;
  }
  return Number::Of(product);
}

Number Power(DType dtype, Numbers x) {
  if (IsInteger(dtype)) return IntegerPower(dtype, x[0].bits, x[1].bits);
  if (IsComplex(dtype)) {
    return x[1].value == 0.0
               ? Number::Of(Complex(1))
               : InDType(std::pow(WideOf(x[0]), WideOf(x[1])), dtype);
  }
  return Number::Of(Complex(std::pow(x[0].value.real(), x[1].value.real()), 0));
}
Number Atan2(DType, Numbers x) {
  return Number::Of(
      Complex(std::atan2(x[0].value.real(), x[1].value.real()), 0));
}

// The library's, of which it has several by their arguments.
#define HAWSER_FUNCTION(Name, fn)              \
  double Name(double x) { return std::fn(x); } \
  WideComplex Name##Complex(WideComplex z) { return std::fn(z); }
HAWSER_FUNCTION(Exp, exp)
HAWSER_FUNCTION(Log, log)
HAWSER_FUNCTION(Sqrt, sqrt)
HAWSER_FUNCTION(Sin, sin)
HAWSER_FUNCTION(Cos, cos)
HAWSER_FUNCTION(Tan, tan)
HAWSER_FUNCTION(Tanh, tanh)
#undef HAWSER_FUNCTION
double ExpM1(double x) { return std::expm1(x); }
double Log1P(double x) { return std::log1p(x); }
double Cbrt(double x) { return std::cbrt(x); }
double Erf(double x) { return std::erf(x); }
double Erfc(double x) { return std::erfc(x); }
double Lgamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}

constexpr Row kMathRows[] = {
    {&kExponential, ElementByElement<Unary<Exp, ExpComplex>>},
    {&kExponentialMinusOne, ElementByElement<Unary<ExpM1, ExpMinusOne>>},
    {&kLog, ElementByElement<Unary<Log, LogComplex>>},
    {&kLogPlusOne, ElementByElement<Unary<Log1P, LogPlusOne>>},
    {&kLogistic, ElementByElement<Unary<Logistic, ComplexLogistic>>},
    {&kSqrt, ElementByElement<Unary<Sqrt, SqrtComplex>>},
    {&kRsqrt, ElementByElement<Unary<Rsqrt, ComplexRsqrt>>},
    {&kCbrt, ElementByElement<OfReals<Cbrt>>},
    {&kErf, ElementByElement<OfReals<Erf>>},
    {&kErfc, ElementByElement<OfReals<Erfc>>},
    {&kLgamma, ElementByElement<OfReals<Lgamma>>},
    {&kSine, ElementByElement<Unary<Sin, SinComplex>>},
    {&kCosine, ElementByElement<Unary<Cos, CosComplex>>},
    {&kTan, ElementByElement<Unary<Tan, TanComplex>>},
    {&kTanh, ElementByElement<Unary<Tanh, TanhComplex>>},
    {&kPower, ElementByElement<Power>},
    {&kAtan2, ElementByElement<Atan2>},
};

}  // namespace

absl::Span<const Row> MathRows() { return kMathRows; }

}  // namespace hawser::reference
