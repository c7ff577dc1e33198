#include "kernels/cpu/butterflies/roots.h"

#include <utility>

namespace hawser::cpu {
namespace {

// pi / 4.
constexpr DoubleDouble kEighth = {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55};
// Terms of the series beyond which nothing changes: x is below 0.8.
constexpr int kTerms = 15;

// The exact sum, where x is not smaller than y.
DoubleDouble QuickSum(double x, double y) {
  const double sum = x + y;
  return {sum, y - (sum - x)};
}
DoubleDouble SumOf(double x, double y) {
  const double sum = x + y;
  const double of_y = sum - x;
  return {sum, (x - (sum - of_y)) + (y - of_y)};
}
// Two numbers of half the digits, whose sum it is.
DoubleDouble Halves(double x) {
  const double scaled = 134217729.0 * x;  // 2^27 + 1
  const double high = scaled - (scaled - x);
  return {high, x - high};
}
DoubleDouble ProductOf(double x, double y) {
  const double product = x * y;
  const DoubleDouble a = Halves(x), b = Halves(y);
  const double error =
      ((a.high * b.high - product) + a.high * b.low + a.low * b.high) +
      a.low * b.low;
  return {product, error};
}

DoubleDouble operator+(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble high = SumOf(x.high, y.high), low = SumOf(x.low, y.low);
  const DoubleDouble sum = QuickSum(high.high, high.low + low.high);
  return QuickSum(sum.high, sum.low + low.low);
}
DoubleDouble operator-(const DoubleDouble& x) { return {-x.high, -x.low}; }
DoubleDouble operator*(const DoubleDouble& x, const DoubleDouble& y) {
  const DoubleDouble product = ProductOf(x.high, y.high);
  return QuickSum(product.high,
                  product.low + (x.high * y.low + x.low * y.high));
}
DoubleDouble operator/(const DoubleDouble& x, double y) {
  const double first = x.high / y;
  const DoubleDouble rest = x + -ProductOf(first, y);
  return QuickSum(first, rest.high / y);
}

// The sum of the series of the sine or the cosine, by its first term.
DoubleDouble Series(DoubleDouble term, const DoubleDouble& minus_square,
                    int next) {
  DoubleDouble sum = term;
  for (int k = 0; k < kTerms; ++k, next += 2) {
    term = term * minus_square / static_cast<double>(next * (next + 1));
    sum = sum + term;
  }
  return sum;
}

}  // namespace

Roots::Roots(int64_t n) : n_(n) {
  while (step_ * step_ < n) step_ *= 2;
  const auto at = [n](int64_t k) -> Point {
    if (k == 0) return {{1, 0}, {0, 0}};
    const DoubleDouble angle = kEighth *
                               DoubleDouble{static_cast<double>(k), 0} /
                               static_cast<double>(n);
    const DoubleDouble minus_square = -(angle * angle);
    return {Series({1, 0}, minus_square, 1), Series(angle, minus_square, 2)};
  };
  for (int64_t k = 0; k < step_; ++k) fine_.push_back(at(k));
  for (int64_t k = 0; k <= n; k += step_) coarse_.push_back(at(k));
}

// cos and sin of pi / 4 * eighths / n.
Roots::Point Roots::PointAt(int64_t eighths) const {
  const Point& x = coarse_[eighths / step_];
  const Point& y = fine_[eighths % step_];
  return {x.cosine * y.cosine + -(x.sine * y.sine),
          x.sine * y.cosine + x.cosine * y.sine};
}

std::complex<double> Roots::At(int64_t m) const {
  const int64_t octant = 8 * m / n_, within = 8 * m % n_;
  // Odd octants run backwards from their end.
  const Point point = PointAt(octant % 2 == 0 ? within : n_ - within);
  double x = point.cosine.high, y = point.sine.high;
  if (octant % 4 == 1 || octant % 4 == 2) std::swap(x, y);
  if (octant >= 2 && octant < 6) x = -x;
  if (octant < 4) y = -y;
  // No zero has a sign.
  return {x + 0.0, y + 0.0};
}

}  // namespace hawser::cpu
