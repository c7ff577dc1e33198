// Gradients of what computes one element of the result from one of each
// operand. g is the result's cotangent.
#include <numbers>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/formulas.h"
#include "core/ops/gradient/gradient.h"

namespace hawser {
namespace {

using enum CompareDirection;

Expression And(const Expression& a, const Expression& b) {
  return Apply(kAnd, {a, b});
}

// real + i imaginary.
Expression ToComplex(const Expression& real, const Expression& imaginary) {
  return Apply(kComplex, {real, imaginary});
}

// g for each element of an operand that may be a scalar beside larger ones.
Expression OntoBound(const Expression& g, const Expression& bound) {
  return bound.rank() == g.rank() ? g : SummedAll(g);
}

// Of erf.
Expression BellAt(const Expression& x) {
  return 2 * std::numbers::inv_sqrtpi * Apply(kExponential, {-(x * x)});
}

}  // namespace

// ---- one operand ----------------------------------------------------------

// +1 at 0 and at -0; of complex numbers conj(x) / |x|, and 0 at 0.
absl::Status AbsGradient(GradientContext& c) {
  c.Give(0, [&] {
    const Expression& r = c.result();
    if (!IsComplex(c.x().dtype())) {
      return Choose(Compare(c.x(), kLt, Like(r, 0)), -c.g(), c.g());
    }
    const Expression zero = Compare(r, kEq, Like(r, 0));
    const Expression scale = c.g() / Choose(zero, Like(r, 1), r);
    return Conjugate(c.x()) * ToComplex(scale, Like(scale, 0));
  });
  return absl::OkStatus();
}

absl::Status NegateGradient(GradientContext& c) {
  c.Give(0, [&] { return -c.g(); });
  return absl::OkStatus();
}

// Zero but for complex numbers, where x / |x| turns with x: with r = |x|,
// Im(g x) / r^3 * i conj(x), and 0 at 0.
absl::Status SignGradient(GradientContext& c) {
  if (!IsComplex(c.x().dtype())) return absl::OkStatus();
  c.Give(0, [&] {
    const Expression r = Apply(kAbs, {c.x()});
    const Expression zero = Compare(r, kEq, Like(r, 0));
    const Expression safe = Choose(zero, Like(r, 1), r);
    const Expression scale =
        Apply(kImag, {c.g() * c.x()}) / safe / safe / safe;
    return ToComplex(scale * Apply(kImag, {c.x()}),
                     scale * Apply(kReal, {c.x()}));
  });
  return absl::OkStatus();
}

absl::Status ExponentialGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * c.result(); });
  return absl::OkStatus();
}

absl::Status ExponentialMinusOneGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * (c.result() + 1); });
  return absl::OkStatus();
}

absl::Status LogGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() / c.x(); });
  return absl::OkStatus();
}

absl::Status LogPlusOneGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() / (c.x() + 1); });
  return absl::OkStatus();
}

absl::Status LogisticGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * (c.result() * (1 - c.result())); });
  return absl::OkStatus();
}

// Infinite at 0.
absl::Status SqrtGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() / (2 * c.result()); });
  return absl::OkStatus();
}

absl::Status RsqrtGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * (-0.5 * (c.result() / c.x())); });
  return absl::OkStatus();
}

// Infinite at 0.
absl::Status CbrtGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() / (3 * (c.result() * c.result())); });
  return absl::OkStatus();
}

absl::Status ErfGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * BellAt(c.x()); });
  return absl::OkStatus();
}

absl::Status ErfcGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * -BellAt(c.x()); });
  return absl::OkStatus();
}

absl::Status LgammaGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * Computed(kDigamma, c.x()); });
  return absl::OkStatus();
}

absl::Status SineGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * Apply(kCosine, {c.x()}); });
  return absl::OkStatus();
}

absl::Status CosineGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * -Apply(kSine, {c.x()}); });
  return absl::OkStatus();
}

absl::Status TanGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * (c.result() * c.result() + 1); });
  return absl::OkStatus();
}

absl::Status TanhGradient(GradientContext& c) {
  c.Give(0, [&] {
    return c.g() * ((1 - c.result()) * (c.result() + 1));
  });
  return absl::OkStatus();
}

absl::Status RealGradient(GradientContext& c) {
  c.Give(0, [&] {
    if (!IsComplex(c.x().dtype())) return c.g();
    return ToComplex(c.g(), Like(c.g(), 0));
  });
  return absl::OkStatus();
}

// d/dx - i d/dy of y.
absl::Status ImagGradient(GradientContext& c) {
  if (!IsComplex(c.x().dtype())) return absl::OkStatus();
  c.Give(0, [&] { return ToComplex(Like(c.g(), 0), -c.g()); });
  return absl::OkStatus();
}

// ---- two operands ---------------------------------------------------------

absl::Status AddGradient(GradientContext& c) {
  for (int i : {0, 1}) c.Give(i, [&] { return c.g(); });
  return absl::OkStatus();
}

absl::Status SubtractGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g(); });
  c.Give(1, [&] { return -c.g(); });
  return absl::OkStatus();
}

absl::Status MultiplyGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * c.y(); });
  c.Give(1, [&] { return c.g() * c.x(); });
  return absl::OkStatus();
}

absl::Status DivideGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() / c.y(); });
  c.Give(1, [&] { return -(c.g() * (c.result() / c.y())); });
  return absl::OkStatus();
}

// x - y * trunc(x / y), the quotient being what is left of x in units of y:
// rounding x / y itself could come out one off.
absl::Status RemainderGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g(); });
  c.Give(1, [&] {
    return -(c.g() *
             Apply(kRoundNearestEven, {(c.x() - c.result()) / c.y()}));
  });
  return absl::OkStatus();
}

// y x^(y-1), which is 0 where y is; and x^y log(x) with log(0) taken as 0.
absl::Status PowerGradient(GradientContext& c) {
  c.Give(0, [&] {
    const Expression zero = Compare(c.y(), kEq, Like(c.y(), 0));
    const Expression exponent = Choose(zero, Like(c.y(), 1), c.y()) - 1;
    return c.g() * (c.y() * Apply(kPower, {c.x(), exponent}));
  });
  c.Give(1, [&] {
    const Expression zero = Compare(c.x(), kEq, Like(c.x(), 0));
    const Expression base = Choose(zero, Like(c.x(), 1), c.x());
    return c.g() * (Apply(kLog, {base}) * c.result());
  });
  return absl::OkStatus();
}

// Operands are (y, x) of the point.
absl::Status Atan2Gradient(GradientContext& c) {
  const Expression scale =
      c.g() / (c.x() * c.x() + c.y() * c.y());
  c.Give(0, [&] { return scale * c.y(); });
  c.Give(1, [&] { return -(scale * c.x()); });
  return absl::OkStatus();
}

// All of g to the operand that is the result; half to each when both are.
absl::Status ExtremeGradient(GradientContext& c) {
  const Expression equal = Compare(c.x(), kEq, c.y());
  const Expression share = Choose(equal, 0.5 * c.g(), c.g());
  for (int i : {0, 1}) {
    c.Give(i, [&] {
      return Where(Compare(c.operands[i], kEq, c.result()), share);
    });
  }
  return absl::OkStatus();
}

// Of d/dx - i d/dy, the parts.
absl::Status ComplexGradient(GradientContext& c) {
  c.Give(0, [&] { return Apply(kReal, {c.g()}); });
  c.Give(1, [&] { return -Apply(kImag, {c.g()}); });
  return absl::OkStatus();
}

// ---- the others -----------------------------------------------------------

// Operands are (low, x, high). x has all of g where it lies between them or on
// one; a bound has it where it is strictly what clips, and high wins.
absl::Status ClampGradient(GradientContext& c) {
  const Expression& x = c.operands[1];
  const auto onto = [&](const Expression& bound) {
    return Spread(bound, x.dims(),
                  bound.rank() == x.rank() ? Dims{}
                                           : OtherAxes(x.rank(), {}));
  };
  const Expression low = onto(c.operands[0]), high = onto(c.operands[2]);
  c.Give(0, [&] {
    const Expression clips = And(Compare(x, kLt, low), Compare(low, kLe, high));
    return OntoBound(Where(clips, c.g()), c.operands[0]);
  });
  c.Give(1, [&] {
    return Where(And(Compare(low, kLe, x), Compare(x, kLe, high)), c.g());
  });
  c.Give(2, [&] {
    const Expression clips = Compare(Apply(kMaximum, {x, low}), kGt, high);
    return OntoBound(Where(clips, c.g()), c.operands[2]);
  });
  return absl::OkStatus();
}

absl::Status SelectGradient(GradientContext& c) {
  c.Give(1, [&] { return Where(c.x(), c.g()); });
  c.Give(2, [&] { return Choose(c.x(), Like(c.g(), 0), c.g()); });
  return absl::OkStatus();
}

// The gradient has the variable's dtype; a complex number's real part is what
// a real one is made of.
absl::Status ConvertGradient(GradientContext& c) {
  c.Give(0, [&] {
    const DType dtype = c.x().dtype();
    if (!IsComplex(dtype) || IsComplex(c.g().dtype())) {
      return ConvertTo(c.g(), dtype);
    }
    const Expression real = ConvertTo(c.g(), RealPart(dtype));
    return ToComplex(real, Like(real, 0));
  });
  return absl::OkStatus();
}

// As of a conversion there and back, which rounds the cotangent too.
absl::Status ReducePrecisionGradient(GradientContext& c) {
  c.Give(0, [&] {
    return Apply(kReducePrecision, {c.g()}, c.instruction.attributes);
  });
  return absl::OkStatus();
}

}  // namespace hawser
