// Functions of complex numbers by those of their parts. The inverse ones are
// Kahan's: the parts of products of square roots lose nothing.

#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/formulas.h"
#include "core/ops/formulas/parts.h"

namespace hawser::formulas {
namespace {

struct ComplexParts {
  Expression x, y;
};

ComplexParts PartsOf(const Expression& z) {
  return {Apply(kReal, {z}), Apply(kImag, {z})};
}

Expression Joined(const Expression& x, const Expression& y) {
  return Apply(kComplex, {x, y});
}

Expression Angle(const Expression& y, const Expression& x) {
  return Apply(kAtan2, {y, x});
}

// The square root of x + iy, in parts, each as exact as the other: the larger
// one is a sum of sizes, and their product is y / 2.
ComplexParts Root(const Expression& x, const Expression& y) {
  const Expression size = Abs(Joined(x, y));
  const Expression larger = Apply(kSqrt, {0.5 * (size + Abs(x))});
  // It is below 0 for -0, too.
  const Expression downwards = Below(Like(y, 1) / y, 0);
  const Expression zero = Compare(larger, CompareDirection::kEq, Like(x, 0));
  const Expression smaller =
      Choose(zero, Like(x, 0), 0.5 * Choose(downwards, -y, y) / larger);
  const Expression left = Below(x, 0);
  const Expression height = Choose(left, larger, smaller);
  return {Choose(left, smaller, larger), Choose(downwards, -height, height)};
}

ComplexParts AtanhOf(const ComplexParts& z) {
  const Expression rest = 1.0 - z.x;
  const Expression squared = Square(z.y);
  const Expression real =
      0.25 * Apply(kLogPlusOne, {4.0 * z.x / (Square(rest) + squared)});
  const Expression angle = Angle(2.0 * z.y, rest * (z.x + 1) - squared);
  return {real, 0.5 * angle};
}

ComplexParts AsinOf(const ComplexParts& z) {
  const ComplexParts minus = Root(1.0 - z.x, -z.y), plus = Root(z.x + 1, z.y);
  return {Angle(z.x, minus.x * plus.x - minus.y * plus.y),
          Asinh(minus.x * plus.y - minus.y * plus.x)};
}

}  // namespace

Expression ComplexSinh(const Expression& z) {
  const auto [x, y] = PartsOf(z);
  return Joined(Sinh(x) * Apply(kCosine, {y}), Cosh(x) * Apply(kSine, {y}));
}

Expression ComplexCosh(const Expression& z) {
  const auto [x, y] = PartsOf(z);
  return Joined(Cosh(x) * Apply(kCosine, {y}), Sinh(x) * Apply(kSine, {y}));
}

Expression ComplexAsin(const Expression& z) {
  const ComplexParts asin = AsinOf(PartsOf(z));
  return Joined(asin.x, asin.y);
}

Expression ComplexAcos(const Expression& z) {
  const auto [x, y] = PartsOf(z);
  const ComplexParts minus = Root(1.0 - x, -y), plus = Root(x + 1, y);
  return Joined(2.0 * Angle(minus.x, plus.x),
                Asinh(plus.x * minus.y - plus.y * minus.x));
}

Expression ComplexAcosh(const Expression& z) {
  const auto [x, y] = PartsOf(z);
  const ComplexParts minus = Root(x - 1, y), plus = Root(x + 1, y);
  return Joined(Asinh(minus.x * plus.x + minus.y * plus.y),
                2.0 * Angle(minus.y, plus.x));
}

Expression ComplexAtanh(const Expression& z) {
  const ComplexParts atanh = AtanhOf(PartsOf(z));
  return Joined(atanh.x, atanh.y);
}

// -i atanh(iz).
Expression ComplexAtan(const Expression& z) {
  const auto [x, y] = PartsOf(z);
  const ComplexParts atanh = AtanhOf({-y, x});
  return Joined(atanh.y, -atanh.x);
}

// i asin(-iz).
Expression ComplexAsinh(const Expression& z) {
  const auto [x, y] = PartsOf(z);
  const ComplexParts asin = AsinOf({y, -x});
  return Joined(-asin.y, asin.x);
}

}  // namespace hawser::formulas
