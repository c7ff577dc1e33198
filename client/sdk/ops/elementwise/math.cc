#include "client/sdk/ops/elementwise/math.h"

#include <cmath>

#include "absl/functional/function_ref.h"
#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "core/base/status.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser {
namespace {

using sdk::Apply;
using sdk::Compose;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::ToFloating;

// Above this asinh and acosh are log(2x) to the last bit of an f64.
constexpr double kLarge = 1e8;

Tensor ComposeOfReals(absl::string_view name, const Operand& x,
                      absl::FunctionRef<Tensor(const Tensor&)> formula) {
  const OpScope s(name, {&x});
  if (!s.ok() || !IsComplex(DTypeOf(x))) return Compose(name, x, formula);
  return s.Fail(InvalidArgument("takes reals, not ", DTypeName(DTypeOf(x))));
}

Tensor LogToBase(absl::string_view name, const Operand& x, double base) {
  return Compose(name, x,
                 [&](const Tensor& x) { return Log(x) / std::log(base); });
}

// sinh(x / 2) and cosh(x / 2) - 1. Of the half, so that nothing overflows
// before the result does; by e^x - 1, so that nothing is lost near 0.
struct Halves {
  Tensor sinh, cosh_minus_one;
};
Halves HalvesOf(const Tensor& x) {
  const Tensor half = x * 0.5;
  const Tensor up = Expm1(half), down = Expm1(-half);
  return {(up - down) * 0.5, (up + down) * 0.5};
}

// The other side of a right triangle.
Tensor OtherSide(const Tensor& x) { return Sqrt((1 - x) * (1 + x)); }

// `small` below kLarge, log(2x) above. Both are evaluated, and differentiated,
// on a part of the axis where they are finite.
Tensor LogOfTwice(const Tensor& x,
                  absl::FunctionRef<Tensor(const Tensor&)> small) {
  const Tensor large = Log(Maximum(x, 1)) + std::log(2.0);
  return Select(x > kLarge, large, small(Minimum(x, kLarge)));
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
  return Compose("Tan", x, [](const Tensor& x) {
    if (!IsComplex(x.dtype())) return Sin(x) / Cos(x);
    // -i tanh(i x), which is finite far from the real axis.
    const Tensor turned = Tanh(Complex(-Imag(x), Real(x)));
    return Complex(Imag(turned), -Real(turned));
  });
}

Tensor Asin(const Operand& x) {
  return ComposeOfReals("Asin", x,
                        [](const Tensor& x) { return Atan2(x, OtherSide(x)); });
}

Tensor Acos(const Operand& x) {
  return ComposeOfReals("Acos", x,
                        [](const Tensor& x) { return Atan2(OtherSide(x), x); });
}

Tensor Atan(const Operand& x) {
  return ComposeOfReals("Atan", x, [](const Tensor& x) { return Atan2(x, 1); });
}

Tensor Phase(const Operand& x) {
  const OpScope s("Phase", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x, ToFloating(DTypeOf(x)));
  return Atan2(Imag(value), Real(value));
}

Tensor Sinh(const Operand& x) {
  return Compose("Sinh", x, [](const Tensor& x) {
    const Halves h = HalvesOf(x);
    return h.sinh * 2 * (h.cosh_minus_one + 1);
  });
}

Tensor Cosh(const Operand& x) {
  return Compose("Cosh", x, [](const Tensor& x) {
    const Tensor sinh = HalvesOf(x).sinh;
    return sinh * 2 * sinh + 1;
  });
}

Tensor Asinh(const Operand& x) {
  return ComposeOfReals("Asinh", x, [](const Tensor& x) {
    // The size of x, with a slope at 0 where |x| and its sign have none.
    const Tensor negative = x < 0;
    const Tensor size = Select(negative, -x, x);
    const Tensor result = LogOfTwice(size, [](const Tensor& a) {
      const Tensor squared = a * a;
      return Log1p(a + squared / (Sqrt(squared + 1) + 1));
    });
    return Select(negative, -result, result);
  });
}

Tensor Acosh(const Operand& x) {
  return ComposeOfReals("Acosh", x, [](const Tensor& x) {
    return LogOfTwice(x, [](const Tensor& a) {
      const Tensor above = a - 1;
      return Log1p(above + Sqrt(above * (above + 2)));
    });
  });
}

Tensor Atanh(const Operand& x) {
  return ComposeOfReals(
      "Atanh", x, [](const Tensor& x) { return (Log1p(x) - Log1p(-x)) * 0.5; });
}

Tensor Conjugate(const Operand& x) {
  const OpScope s("Conjugate", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x, sdk::Promote(DTypeOf(x), DType::kC64));
  return Complex(Real(value), -Imag(value));
}

}  // namespace hawser
