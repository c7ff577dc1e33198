// The error function and its kin, the gamma function's, Bessel's.

#include <cmath>
#include <limits>
#include <numbers>

#include "client/stablehlo/compositions/coefficients.h"
#include "client/stablehlo/compositions/compositions.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"

namespace hawser::stablehlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Of Lanczos' sum: g + 1/2.
constexpr double kLanczosShift = 7.5;

Expression Abs(const Expression& x) { return Unary(kAbs, x); }

// erf of at most 1.
Expression ErfNear(const Expression& x) {
  return x * Polynomial(kErf, Square(x));
}

// erfc of a size.
Expression ErfcOfSize(const Expression& a) {
  const Expression scaled =
      Chebyshev(kErfcx, Like(a, 1) - Like(a, 8) / (a + 4)) / (2.0 * a + 1);
  return Choose(Above(a, 30), Like(a, 0),
                Unary(kExponential, -(a * a)) * scaled);
}

// Lanczos' sum for z, and its derivative.
struct Lanczos {
  Expression z;  // x - 1, or -x where x is below 1/2
  Expression sum, slope;
  Expression t, log_t;  // z + 7.5
};

Lanczos LanczosOf(const Expression& x) {
  Lanczos l;
  l.z = Choose(Below(x, 0.5), -x, x - 1);
  l.sum = Like(x, kLanczos[0]);
  l.slope = Like(x, 0);
  for (int i = 1; i < 9; ++i) {
    const Expression under = l.z + i;
    const Expression term = Like(x, kLanczos[i]) / under;
    l.sum = l.sum + term;
    l.slope = l.slope - term / under;
  }
  l.t = l.z + kLanczosShift;
  l.log_t =
      Unary(kLogPlusOne, (1 / kLanczosShift) * l.z) + std::log(kLanczosShift);
  return l;
}

}  // namespace

Expression Erf(const Expression& x) {
  const Expression a = Abs(x);
  return Choose(Below(a, 1), ErfNear(x), WithSignOf(x, 1.0 - ErfcOfSize(a)));
}

Expression Erfc(const Expression& x) {
  const Expression a = Abs(x);
  const Expression far = ErfcOfSize(a);
  return Choose(Below(a, 0.5), 1.0 - ErfNear(x),
                Choose(Below(x, 0), 2.0 - far, far));
}

// Winitzki's formula, then Halley's steps on erf for small results and on erfc
// for large ones, where 1 - |x| is exact.
Expression ErfInv(const Expression& x) {
  constexpr double kWinitzki = 0.147;
  const Expression p = Abs(x);
  const Expression rest = Unary(kLog, (1.0 - p) * (p + 1));
  const Expression half = 0.5 * rest + 2 / (std::numbers::pi * kWinitzki);
  const Expression under =
      Unary(kSqrt, Square(half) - (1 / kWinitzki) * rest) - half;
  Expression y = Unary(kSqrt, Binary(kMaximum, under, Like(x, 0)));
  for (int step = 0; step < 2; ++step) {
    const Expression off =
        Choose(Below(p, 0.5), Erf(y) - p, (1.0 - p) - Erfc(y));
    const Expression newton =
        (0.5 / std::numbers::inv_sqrtpi) * off * Unary(kExponential, Square(y));
    y = y - newton / (y * newton + 1);
  }
  const Expression edge =
      Choose(Above(p, 1), Like(x, kNan), Like(x, kInfinity));
  return WithSignOf(x, Choose(Below(p, 1), y, edge));
}

// Reflected below 1/2.
Expression Lgamma(const Expression& x) {
  const Lanczos l = LanczosOf(x);
  const Expression log_gamma = (l.z + 0.5 - l.t / l.log_t) * l.log_t +
                               Unary(kLog, l.sum) +
                               0.5 * std::log(2 * std::numbers::pi);
  const Expression a = Abs(x);
  const Expression part = a - Unary(kFloor, a);
  const Expression nearest = Binary(kMinimum, part, 1.0 - part);
  const Expression log_sine =
      Unary(kLog, Unary(kSine, std::numbers::pi * nearest));
  const Expression reflected = Choose(
      Unary(kIsFinite, log_sine),
      Like(x, std::log(std::numbers::pi)) - log_sine - log_gamma, -log_sine);
  const Expression value = Choose(Below(x, 0.5), reflected, log_gamma);
  const Expression infinite =
      Compare(a, CompareDirection::kEq, Like(x, kInfinity));
  return Choose(infinite, Like(x, kInfinity), value);
}

Expression Digamma(const Expression& x) {
  const Lanczos l = LanczosOf(x);
  const Expression value =
      l.log_t + l.slope / l.sum - Like(x, kLanczosShift - 0.5) / l.t;
  // The cotangent has the period 1.
  const Expression part = x + Unary(kFloor, 0.5 - x);
  const Expression cotangent = Unary(kCosine, std::numbers::pi * part) /
                               Unary(kSine, std::numbers::pi * part);
  const Expression reflected = value - std::numbers::pi * cotangent;
  const Expression pole =
      Apply(kAnd, {Apply(kNot, {Above(x, 0)}),
                   Compare(x, CompareDirection::kEq, Unary(kFloor, x))});
  return Choose(pole, Like(x, kNan), Choose(Below(x, 0.5), reflected, value));
}

Expression BesselI1e(const Expression& x) {
  const Expression a = Abs(x);
  const Expression near = a * Chebyshev(kBesselNear, 0.25 * a - 1);
  const Expression far =
      Chebyshev(kBesselFar, Like(a, 16) / a - 1) * Unary(kRsqrt, a);
  return WithSignOf(x, Choose(Below(a, 8), near, far));
}

}  // namespace hawser::stablehlo
