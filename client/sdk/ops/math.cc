#include "client/sdk/ops/math.h"

#include <cmath>

#include "absl/functional/function_ref.h"
#include "client/sdk/graph/apply.h"
#include "client/sdk/graph/op_scope.h"
#include "client/sdk/ops/compare.h"
#include "client/sdk/ops/elementwise.h"
#include "core/base/status.h"
#include "core/ops/elementwise.h"

namespace hawser {
namespace {

using sdk::Apply;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::ToAccurate;
using sdk::ToFloating;

// Above this asinh and acosh are log(2x) to the last bit of an f64.
constexpr double kLarge = 1e8;

// A function of several steps while it is written down: its argument, and
// numbers of the argument's dtype that are part of the structure.
struct Steps {
  const OpScope& s;
  const Tensor x;

  Operand At(const Tensor& t) const { return Operand(t, s.where()); }
  Tensor Of(double number) const { return s.ConstantOf(number, x.dtype()); }
  Tensor Plus(const Tensor& a, const Tensor& b) const { return Add(At(a), b); }
  Tensor Minus(const Tensor& a, const Tensor& b) const {
    return Subtract(At(a), b);
  }
  Tensor Times(const Tensor& a, const Tensor& b) const {
    return Multiply(At(a), b);
  }
  Tensor Over(const Tensor& a, const Tensor& b) const {
    return Divide(At(a), b);
  }
  Tensor Root(const Tensor& a) const { return Sqrt(At(a)); }
};

enum class Domain { kReals, kAll };

// `write` in a dtype that is rounded once, at the end.
Tensor Compose(absl::string_view name, const Operand& x, Domain domain,
               absl::FunctionRef<Tensor(const Steps&)> write) {
  const OpScope s(name, x.where(), {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  if (domain == Domain::kReals && IsComplex(dtype)) {
    return s.Fail(InvalidArgument("takes reals, not ", DTypeName(dtype)));
  }
  const Tensor value = s.As(x, ToAccurate(dtype));
  if (value.dtype() == DType::kInvalid) return value;
  return s.Convert(write({s, value}), dtype);
}

Tensor LogToBase(absl::string_view name, const Operand& x, double base) {
  return Compose(name, x, Domain::kAll, [&](const Steps& f) {
    return f.Over(Log(f.At(f.x)), f.Of(std::log(base)));
  });
}

// sinh(x / 2) and cosh(x / 2) - 1. Of the half, so that nothing overflows
// before the result does; by e^x - 1, so that nothing is lost near 0.
struct Halves {
  Tensor sinh, cosh_minus_one;
};
Halves HalvesOf(const Steps& f) {
  const Tensor half = f.Times(f.x, f.Of(0.5));
  const Tensor up = Expm1(f.At(half)), down = Expm1(f.At(Negate(f.At(half))));
  return {f.Times(f.Minus(up, down), f.Of(0.5)),
          f.Times(f.Plus(up, down), f.Of(0.5))};
}

// sqrt((1 - x)(1 + x)): the other side of a right triangle.
Tensor OtherSide(const Steps& f) {
  return f.Root(f.Times(f.Minus(f.Of(1), f.x), f.Plus(f.Of(1), f.x)));
}

// `small` below kLarge, log(2x) above. Both are evaluated, and differentiated,
// on a part of the axis where they are finite.
Tensor LogOfTwice(const Steps& f, const Tensor& x,
                  absl::FunctionRef<Tensor(const Tensor&)> small) {
  const Tensor limit = f.Of(kLarge);
  const Tensor large = f.Plus(Log(f.At(Maximum(f.At(x), f.Of(1)))),
                              f.Of(std::log(2.0)));
  return Select(f.At(Gt(f.At(x), limit)), large,
                small(Minimum(f.At(x), limit)));
}

}  // namespace

Tensor Exp(const Operand& x) {
  return Apply("Exp", kExponential, ToFloating, x);
}
Tensor Expm1(const Operand& x) {
  return Apply("Expm1", kExponentialMinusOne, ToFloating, x);
}
Tensor Log(const Operand& x) { return Apply("Log", kLog, ToFloating, x); }
Tensor Log1p(const Operand& x) {
  return Apply("Log1p", kLogPlusOne, ToFloating, x);
}
Tensor Log2(const Operand& x) { return LogToBase("Log2", x, 2); }
Tensor Log10(const Operand& x) { return LogToBase("Log10", x, 10); }
Tensor Sigmoid(const Operand& x) {
  return Apply("Sigmoid", kLogistic, ToFloating, x);
}
Tensor Sqrt(const Operand& x) { return Apply("Sqrt", kSqrt, ToFloating, x); }
Tensor Rsqrt(const Operand& x) { return Apply("Rsqrt", kRsqrt, ToFloating, x); }
Tensor Cbrt(const Operand& x) { return Apply("Cbrt", kCbrt, ToFloating, x); }
Tensor Tanh(const Operand& x) { return Apply("Tanh", kTanh, ToFloating, x); }
Tensor Sin(const Operand& x) { return Apply("Sin", kSine, ToFloating, x); }
Tensor Cos(const Operand& x) { return Apply("Cos", kCosine, ToFloating, x); }

Tensor Tan(const Operand& x) {
  return Compose("Tan", x, Domain::kAll, [](const Steps& f) {
    if (!IsComplex(f.x.dtype())) return f.Over(Sin(f.At(f.x)), Cos(f.At(f.x)));
    // -i tanh(i x), which is finite far from the real axis.
    const Tensor re = f.s.Add(kReal, {f.x}), im = f.s.Add(kImag, {f.x});
    const Tensor turned =
        f.s.Add(kTanh, {f.s.Add(kComplex, {f.s.Add(kNegate, {im}), re})});
    return f.s.Add(kComplex,
                   {f.s.Add(kImag, {turned}),
                    f.s.Add(kNegate, {f.s.Add(kReal, {turned})})});
  });
}

Tensor Asin(const Operand& x) {
  return Compose("Asin", x, Domain::kReals, [](const Steps& f) {
    return Atan2(f.At(f.x), OtherSide(f));
  });
}

Tensor Acos(const Operand& x) {
  return Compose("Acos", x, Domain::kReals, [](const Steps& f) {
    return Atan2(f.At(OtherSide(f)), f.x);
  });
}

Tensor Atan(const Operand& x) {
  return Compose("Atan", x, Domain::kReals, [](const Steps& f) {
    return Atan2(f.At(f.x), f.s.BroadcastTo(f.Of(1), f.x.shape().dims()));
  });
}

Tensor Phase(const Operand& x) {
  const OpScope s("Phase", x.where(), {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x, ToFloating(DTypeOf(x)));
  return s.Add(kAtan2, {s.Add(kImag, {value}), s.Add(kReal, {value})});
}

Tensor Sinh(const Operand& x) {
  return Compose("Sinh", x, Domain::kAll, [](const Steps& f) {
    const Halves h = HalvesOf(f);
    const Tensor cosh = f.Plus(h.cosh_minus_one, f.Of(1));
    return f.Times(f.Times(h.sinh, f.Of(2)), cosh);
  });
}

Tensor Cosh(const Operand& x) {
  return Compose("Cosh", x, Domain::kAll, [](const Steps& f) {
    const Tensor sinh = HalvesOf(f).sinh;
    return f.Plus(f.Times(f.Times(sinh, f.Of(2)), sinh), f.Of(1));
  });
}

Tensor Asinh(const Operand& x) {
  return Compose("Asinh", x, Domain::kReals, [](const Steps& f) {
    // The size of x, with a slope at 0 where |x| and its sign have none.
    const Tensor negative = Lt(f.At(f.x), f.Of(0));
    const Tensor size = Select(f.At(negative), Negate(f.At(f.x)), f.x);
    const Tensor result = LogOfTwice(f, size, [&](const Tensor& a) {
      const Tensor squared = f.Times(a, a);
      const Tensor root = f.Root(f.Plus(squared, f.Of(1)));
      return Log1p(f.At(f.Plus(a, f.Over(squared, f.Plus(root, f.Of(1))))));
    });
    return Select(f.At(negative), Negate(f.At(result)), result);
  });
}

Tensor Acosh(const Operand& x) {
  return Compose("Acosh", x, Domain::kReals, [](const Steps& f) {
    return LogOfTwice(f, f.x, [&](const Tensor& a) {
      const Tensor above = f.Minus(a, f.Of(1));
      const Tensor root =
          f.Root(f.Times(above, f.Plus(above, f.Of(2))));
      return Log1p(f.At(f.Plus(above, root)));
    });
  });
}

Tensor Atanh(const Operand& x) {
  return Compose("Atanh", x, Domain::kReals, [](const Steps& f) {
    return f.Times(
        f.Minus(Log1p(f.At(f.x)), Log1p(f.At(Negate(f.At(f.x))))), f.Of(0.5));
  });
}

Tensor Conjugate(const Operand& x) {
  const OpScope s("Conjugate", x.where(), {&x});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::Promote(DTypeOf(x), DType::kC64);
  const Tensor value = s.As(x, dtype);
  return s.Add(kComplex, {s.Add(kReal, {value}),
                          s.Add(kNegate, {s.Add(kImag, {value})})});
}

}  // namespace hawser
