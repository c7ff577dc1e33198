// Hyperbolic functions and inverse ones, of reals.

#include <numbers>

#include "client/stablehlo/compositions/compositions.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"

namespace hawser::stablehlo {
namespace {

// From here on the square of a number may not be finite, and 1 beside it is
// nothing.
constexpr double kLarge = 1e15;

Expression Abs(const Expression& x) { return Unary(kAbs, x); }

}  // namespace

Expression Unary(const OpDef& op, const Expression& x) {
  return Apply(op, {x});
}

Expression Binary(const OpDef& op, const Expression& x, const Expression& y) {
  return Apply(op, {x, y});
}

Expression Square(const Expression& x) { return x * x; }

Expression Below(const Expression& x, double y) {
  return Compare(x, CompareDirection::kLt, Like(x, y));
}

Expression Above(const Expression& x, double y) {
  return Compare(x, CompareDirection::kGt, Like(x, y));
}

Expression WithSignOf(const Expression& x, const Expression& size) {
  return Choose(Below(x, 0), -size, Choose(Above(x, 0), size, x));
}

Expression Polynomial(absl::Span<const double> c, const Expression& x) {
  Expression sum = Like(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// Clenshaw's recurrence.
Expression Chebyshev(absl::Span<const double> c, const Expression& u) {
  const Expression twice = 2.0 * u;
  Expression next = Like(u, 0), after = next;
  for (size_t i = c.size() - 1; i > 0; --i) {
    const Expression sum = twice * next - after + c[i];
    after = next;
    next = sum;
  }
  return u * next - after + c[0];
}

// Of a size a: half of e^a - e^-a by e^a - 1, which is exact near 0; for large
// ones the square of e^(a/2), which is finite as long as the result is.
Expression Sinh(const Expression& x) {
  const Expression a = Abs(x);
  const Expression e = Unary(kExponentialMinusOne, a);
  const Expression near = 0.5 * (e + e / (e + 1));
  const Expression root = Unary(kExponential, 0.5 * a);
  return WithSignOf(x, Choose(Below(a, 20), near, 0.5 * root * root));
}

Expression Cosh(const Expression& x) {
  const Expression a = Abs(x);
  const Expression e = 0.5 * Unary(kExponential, a);
  const Expression root = Unary(kExponential, 0.5 * a);
  return Choose(Below(a, 20), e + Like(x, 0.25) / e, 0.5 * root * root);
}

Expression Tan(const Expression& x) {
  return Unary(kSine, x) / Unary(kCosine, x);
}

Expression Asin(const Expression& x) {
  return Binary(kAtan2, x, Unary(kSqrt, (1.0 - x) * (x + 1)));
}

Expression Acos(const Expression& x) {
  return Binary(kAtan2, Unary(kSqrt, (1.0 - x) * (x + 1)), x);
}

Expression Atan(const Expression& x) { return Binary(kAtan2, x, Like(x, 1)); }

Expression Asinh(const Expression& x) {
  const Expression a = Abs(x);
  const Expression squared = Square(a);
  const Expression near =
      Unary(kLogPlusOne, a + squared / (Unary(kSqrt, squared + 1) + 1));
  const Expression far = Unary(kLog, a) + std::numbers::ln2;
  return WithSignOf(x, Choose(Below(a, kLarge), near, far));
}

Expression Acosh(const Expression& x) {
  const Expression above = x - 1;
  const Expression near =
      Unary(kLogPlusOne, above + Unary(kSqrt, above * (above + 2)));
  const Expression far = Unary(kLog, x) + std::numbers::ln2;
  return Choose(Below(x, kLarge), near, far);
}

Expression Atanh(const Expression& x) {
  return 0.5 * (Unary(kLogPlusOne, x) - Unary(kLogPlusOne, -x));
}

}  // namespace hawser::stablehlo
