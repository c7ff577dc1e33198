// Gradients of what computes one element of the result from one of each
// operand. g is the result's cotangent.
#include <numbers>

#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/formulas.h"
#include "core/ops/formulas/wide_sums.h"
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

// g for each element of an operand that may be a scalar next to larger ones.
Expression OntoBound(const Expression& g, const Expression& bound) {
  return bound.rank() == g.rank() ? g : SummedAll(g);
}

// The derivative of erf.
Expression BellAt(const Expression& x) {
  return 2 * std::numbers::inv_sqrtpi * Apply(kExponential, {-(x * x)});
}

// x / r of complex numbers, in parts, so that no square of a size is needed.
struct RatioParts {
  Expression real, imaginary;
};
RatioParts PartsOver(const Expression& x, const Expression& r) {
  return {Apply(kReal, {x}) / r, Apply(kImag, {x}) / r};
}

// A rule of several operations. On halves it works in f32 and rounds once, so
// that what it makes on the way stays in range.
absl::Status InWide(GradientContext& c, void (*rule)(GradientContext&)) {
  const DType dtype = c.x().dtype();
  if (!IsHalf(dtype)) {
    rule(c);
    return absl::OkStatus();
  }
  const auto widened = [](absl::Span<const Expression> narrow) {
    absl::InlinedVector<Expression, 3> wide;
    for (const Expression& x : narrow) {
      wide.push_back(x.present() ? ConvertTo(x, DType::kF32) : x);
    }
    return wide;
  };
  const auto operands = widened(c.operands);
  const auto cotangents = widened(c.cotangents);
  const auto results = widened(c.results);
  absl::InlinedVector<Expression, 3> given(operands.size());
  GradientContext wide{c.scope,       c.instruction,
                       operands,      results,
                       cotangents,    c.wanted,
                       absl::MakeSpan(given),
                       c.pull_back,   c.so_far,
                       c.is_onto};
  rule(wide);
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].present()) {
      c.operand_cotangents[i] = ConvertTo(given[i], dtype);
    }
  }
  return absl::OkStatus();
}

void GiveExponential(GradientContext& c) {
  c.Give(0, [&] { return c.g() * Apply(kExponential, {c.x()}); });
}
void GiveResultAndOne(GradientContext& c) {
  c.Give(0, [&] { return c.g() * (c.result() + 1); });
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
    const RatioParts unit = PartsOver(c.x(), Choose(zero, Like(r, 1), r));
    return ToComplex(c.g() * unit.real, -(c.g() * unit.imaginary));
  });
  return absl::OkStatus();
}

absl::Status NegateGradient(GradientContext& c) {
  c.Give(0, [&] { return -c.g(); });
  return absl::OkStatus();
}

// Zero but for complex numbers, where u = x / |x| turns with x: with r = |x|,
// Im(g u) / r * i conj(u), and 0 at 0.
absl::Status SignGradient(GradientContext& c) {
  if (!IsComplex(c.x().dtype())) return absl::OkStatus();
  c.Give(0, [&] {
    const Expression r = Apply(kAbs, {c.x()});
    const Expression zero = Compare(r, kEq, Like(r, 0));
    const Expression safe = Choose(zero, Like(r, 1), r);
    const RatioParts unit = PartsOver(c.x(), safe);
    const Expression turn = Apply(kImag, {c.g()}) * unit.real +
                            Apply(kReal, {c.g()}) * unit.imaginary;
    const Expression scale = turn / safe;
    return ToComplex(scale * unit.imaginary, scale * unit.real);
  });
  return absl::OkStatus();
}

absl::Status ExponentialGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() * c.result(); });
  return absl::OkStatus();
}

// Halves use e^x itself: the result near -1 says little of it.
absl::Status ExponentialMinusOneGradient(GradientContext& c) {
  const bool is_half = IsHalf(c.x().dtype());
  return InWide(c, is_half ? GiveExponential : GiveResultAndOne);
}

absl::Status LogGradient(GradientContext& c) {
  c.Give(0, [&] { return c.g() / c.x(); });
  return absl::OkStatus();
}

absl::Status LogPlusOneGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() / (c.x() + 1); });
  });
}

absl::Status LogisticGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * (c.result() * (1 - c.result())); });
  });
}

// Infinite at 0.
absl::Status SqrtGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() / (2 * c.result()); });
  });
}

absl::Status RsqrtGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * (-0.5 * (c.result() / c.x())); });
  });
}

// Infinite at 0.
absl::Status CbrtGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() / (3 * (c.result() * c.result())); });
  });
}

absl::Status ErfGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * BellAt(c.x()); });
  });
}

absl::Status ErfcGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * -BellAt(c.x()); });
  });
}

absl::Status LgammaGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * Computed(kDigamma, c.x()); });
  });
}

absl::Status SineGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * Apply(kCosine, {c.x()}); });
  });
}

absl::Status CosineGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * -Apply(kSine, {c.x()}); });
  });
}

absl::Status TanGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() * (c.result() * c.result() + 1); });
  });
}

absl::Status TanhGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] {
      return c.g() * ((1 - c.result()) * (c.result() + 1));
    });
  });
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
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g() / c.y(); });
    c.Give(1, [&] { return -(c.g() * (c.result() / c.y())); });
  });
}

// x - y * trunc(x / y), the quotient being what is left of x in units of y:
// rounding x / y itself could come out one off.
absl::Status RemainderGradient(GradientContext& c) {
  return InWide(c, [](GradientContext& c) {
    c.Give(0, [&] { return c.g(); });
    c.Give(1, [&] {
      return -(c.g() *
               Apply(kRoundNearestEven, {(c.x() - c.result()) / c.y()}));
    });
  });
}

namespace {

// True where 1 / x is no number of the dtype.
Expression HasNoInverse(const Expression& x) {
  const Expression size = Apply(kAbs, {x});
  return Apply(kNot, {Apply(kIsFinite, {Like(size, 1) / size})});
}

// y x^(y-1), which is 0 where y is: what x is does not matter there, but where
// 1 / x is infinite, and the derivative by y with it. And x^y log(x) with
// log(0) taken as 0.
void GivePower(GradientContext& c) {
  c.Give(0, [&] {
    const Expression zero = And(Compare(c.y(), kEq, Like(c.y(), 0)),
                                HasNoInverse(c.x()));
    const Expression base = Choose(zero, Like(c.x(), 1), c.x());
    const Expression slope = c.y() * Apply(kPower, {base, c.y() - 1});
    return c.g() * Choose(zero, Like(c.x(), 0), slope);
  });
  c.Give(1, [&] {
    const Expression zero = Compare(c.x(), kEq, Like(c.x(), 0));
    const Expression base = Choose(zero, Like(c.x(), 1), c.x());
    return c.g() * (Apply(kLog, {base}) * c.result());
  });
}

// Operands are (y, x) of the point; by its distance, no square of which is
// needed where both are taken in units of the larger one. The formula does not
// depend on the unit, so nothing is differentiated by it.
void GiveAtan2(GradientContext& c) {
  const Expression larger =
      Apply(kMaximum, {Apply(kAbs, {c.x()}), Apply(kAbs, {c.y()})});
  const Expression none =
      Apply(kOr, {Compare(larger, kEq, Like(larger, 0)),
                  Apply(kNot, {Apply(kIsFinite, {larger})})});
  const Expression unit =
      Apply(kStopGradient, {Choose(none, Like(larger, 1), larger)});
  const Expression y = c.x() / unit, x = c.y() / unit;
  const Expression squared = x * x + y * y;
  c.Give(0, [&] { return c.g() * (x / squared) / unit; });
  c.Give(1, [&] { return -(c.g() * (y / squared) / unit); });
}

}  // namespace

absl::Status PowerGradient(GradientContext& c) { return InWide(c, GivePower); }

absl::Status Atan2Gradient(GradientContext& c) { return InWide(c, GiveAtan2); }

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

// The operands are the parts of d/dx - i d/dy.
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

// It is a conversion there and back, which rounds the cotangent too.
absl::Status ReducePrecisionGradient(GradientContext& c) {
  c.Give(0, [&] {
    return Apply(kReducePrecision, {c.g()}, c.instruction.attributes);
  });
  return absl::OkStatus();
}

}  // namespace hawser
