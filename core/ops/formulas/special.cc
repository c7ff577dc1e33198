// The inverse of the error function, the derivative of the gamma function's
// logarithm, Bessel's functions.

#include <cmath>
#include <limits>
#include <numbers>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/coefficients.h"
#include "core/ops/formulas/formulas.h"
#include "core/ops/formulas/parts.h"

namespace hawser::formulas {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// The shift of Lanczos' sum: g + 1/2.
constexpr double kLanczosShift = 7.5;
// Bessel's two series meet here. Each is computed a little beyond, so that none
// is at the bound of what it is kept to where it is taken.
constexpr double kBesselMeet = 8, kBesselBelow = 7.5, kBesselAbove = 8.5;

Expression Ratio(absl::Span<const double> over, absl::Span<const double> under,
                 const Expression& x) {
  return Polynomial(over, x) / Polynomial(under, x);
}

// In 0.180625 - q^2, of quantiles near the middle.
Expression NormalNear(const Expression& x) {
  return x.dtype() == DType::kF64
             ? Ratio(kNormalNearOver, kNormalNearUnder, x)
             : Ratio(kShortNormalNearOver, kShortNormalNearUnder, x);
}

// For a size below 1 beyond the middle, where 1 - p is exact.
Expression ErfInvFar(const Expression& p) {
  const Expression tail = 0.5 * (1.0 - p);
  const Expression r = Apply(kSqrt, {-Apply(kLog, {tail})});
  // Only f64 comes so near to 1 that r is 5.
  if (p.dtype() != DType::kF64) {
    return Ratio(kShortNormalFarOver, kShortNormalFarUnder, r - 1.6);
  }
  return Choose(
      Above(r, 5),
      Ratio(kNormalFarthestOver, kNormalFarthestUnder, AtLeast(r, 5) - 5),
      Ratio(kNormalFarOver, kNormalFarUnder, r - 1.6));
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
      Apply(kLogPlusOne, {(1 / kLanczosShift) * l.z}) + std::log(kLanczosShift);
  return l;
}

// Chebyshev's sums for a size that is small, and for one that is large.
Expression Near(absl::Span<const double> c, const Expression& a) {
  return Chebyshev(c, 0.25 * AtMost(a, kBesselAbove) - 1);
}
Expression Far(absl::Span<const double> c, const Expression& a) {
  const Expression most = AtLeast(a, kBesselBelow);
  return Chebyshev(c, Like(a, 16) / most - 1) * Apply(kRsqrt, {most});
}

}  // namespace

// Uses the quantiles of the normal distribution, Wichura's AS 241.
Expression ErfInv(const Expression& x) {
  constexpr double kMiddle = 0.85, kBeyond = 0.86;
  const Expression p = Abs(x);
  const Expression half = 0.5 * AtMost(p, kBeyond);
  const Expression near = (0.5 / std::numbers::sqrt2) * x *
                           NormalNear(Like(x, 0.180625) - Square(half));
  const Expression inside =
      Choose(Below(p, 1), AtLeast(p, kMiddle), Like(x, kMiddle));
  const Expression far = (1 / std::numbers::sqrt2) * ErfInvFar(inside);
  const Expression edge =
      Choose(Above(p, 1), Like(x, kNan), Like(x, kInfinity));
  const Expression beyond = WithSignOf(x, Choose(Below(p, 1), far, edge));
  // NaN is on neither side.
  return Choose(Apply(kNot, {Above(p, kMiddle)}), near, beyond);
}

// Reflected below 1/2.
Expression Digamma(const Expression& x) {
  const Lanczos l = LanczosOf(x);
  const Expression value =
      l.log_t + l.slope / l.sum - Like(x, kLanczosShift - 0.5) / l.t;
  const Expression pole =
      Apply(kAnd, {Apply(kNot, {Above(x, 0)}),
                   Compare(x, CompareDirection::kEq, Apply(kFloor, {x}))});
  const Expression left = Apply(kAnd, {Below(x, 0.5), Apply(kNot, {pole})});
  // The cotangent has the period 1.
  const Expression part =
      Choose(left, x + Apply(kFloor, {0.5 - x}), Like(x, 0.25));
  const Expression turned = std::numbers::pi * part;
  const Expression cotangent =
      Apply(kCosine, {turned}) / Apply(kSine, {turned});
  const Expression reflected = value - std::numbers::pi * cotangent;
  return Choose(pole, Like(x, kNan), Choose(left, reflected, value));
}

Expression BesselI0e(const Expression& x) {
  const Expression a = Abs(x);
  return Choose(Below(a, kBesselMeet), Near(kBesselI0Near, a),
                Far(kBesselI0Far, a));
}

Expression BesselI1e(const Expression& x) {
  const Expression a = Abs(x);
  return Choose(Above(a, kBesselMeet), WithSignOf(x, Far(kBesselI1Far, a)),
                x * Near(kBesselI1Near, a));
}

}  // namespace hawser::formulas
