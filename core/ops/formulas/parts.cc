#include "core/ops/formulas/parts.h"

#include <cmath>

#include "core/ops/elementwise/elementwise.h"

namespace hawser::formulas {

Expression Abs(const Expression& x) { return Apply(kAbs, {x}); }

Expression Square(const Expression& x) { return x * x; }

Expression AtMost(const Expression& x, double most) {
  return Apply(kMinimum, {x, Like(x, most)});
}

Expression AtLeast(const Expression& x, double least) {
  return Apply(kMaximum, {x, Like(x, least)});
}

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
  const double least = u.dtype() == DType::kF32 ? 1e-9 : 0;
  while (c.size() > 1 && std::abs(c.back()) < least) c.remove_suffix(1);
  const Expression twice = 2.0 * u;
  Expression next = Like(u, 0), after = next;
  for (size_t i = c.size() - 1; i > 0; --i) {
    const Expression sum = twice * next - after + c[i];
    after = next;
    next = sum;
  }
  return u * next - after + c[0];
}

}  // namespace hawser::formulas
