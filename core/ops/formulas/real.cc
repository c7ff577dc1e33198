// Hyperbolic functions and inverse ones, of reals.

#include <limits>
#include <numbers>

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/formulas.h"
#include "core/ops/formulas/parts.h"

namespace hawser::formulas {
namespace {

// From this size on, x^2 + 1 is x^2.
constexpr double kLarge = 1e15;
// From this size on, e^x + e^-x is e^x.
constexpr double kSteep = 20;

Expression Sqrt(const Expression& x) { return Apply(kSqrt, {x}); }
Expression LogPlusOne(const Expression& x) { return Apply(kLogPlusOne, {x}); }

// e^a / 2 as a square: finite as long as it is a number.
Expression HalfOfPower(const Expression& a) {
  const Expression root = Apply(kExponential, {0.5 * a});
  return 0.5 * root * root;
}

// log(2a), of a from 1 on.
Expression LogOfTwice(const Expression& a) {
  return Apply(kLog, {AtLeast(a, 1)}) + std::numbers::ln2;
}

// The other side of a right triangle.
Expression OtherSide(const Expression& x) { return Sqrt((1.0 - x) * (x + 1)); }

}  // namespace

// For the size a of x it is half of e^a - e^-a, computed by e^a - 1, which is
// exact near 0.
Expression Sinh(const Expression& x) {
  const Expression a = Abs(x);
  const Expression e = Apply(kExponentialMinusOne, {AtMost(a, kSteep)});
  const Expression near = 0.5 * (e + e / (e + 1));
  return WithSignOf(x, Choose(Below(a, kSteep), near, HalfOfPower(a)));
}

Expression Cosh(const Expression& x) {
  const Expression a = Abs(x);
  const Expression e = 0.5 * Apply(kExponential, {AtMost(a, kSteep)});
  const Expression near = e + Like(x, 0.25) / e;
  return Choose(Below(a, kSteep), near, HalfOfPower(a));
}

Expression Asin(const Expression& x) {
  return Apply(kAtan2, {x, OtherSide(x)});
}

Expression Acos(const Expression& x) {
  return Apply(kAtan2, {OtherSide(x), x});
}

Expression Atan(const Expression& x) { return Apply(kAtan2, {x, Like(x, 1)}); }

Expression Asinh(const Expression& x) {
  const Expression a = Abs(x);
  const Expression most = AtMost(a, kLarge);
  const Expression squared = Square(most);
  const Expression near = LogPlusOne(most + squared / (Sqrt(squared + 1) + 1));
  return WithSignOf(x, Choose(Below(a, kLarge), near, LogOfTwice(a)));
}

Expression Acosh(const Expression& x) {
  const Expression above = AtMost(x, kLarge) - 1;
  const Expression near = LogPlusOne(above + Sqrt(above * (above + 2)));
  const Expression none = Like(x, std::numeric_limits<double>::quiet_NaN());
  const Expression value = Choose(Below(x, kLarge), near, LogOfTwice(x));
  return Choose(Below(x, 1), none, value);
}

Expression Atanh(const Expression& x) {
  return 0.5 * (LogPlusOne(x) - LogPlusOne(-x));
}

}  // namespace hawser::formulas
