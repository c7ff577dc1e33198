#include "client/sdk/ops/elementwise/math.h"

#include <cmath>

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/formulas.h"

namespace hawser {
namespace {

using sdk::Apply;
using sdk::Compose;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::ToFloating;

Tensor LogToBase(absl::string_view name, const Operand& x, double base) {
  return Compose(name, x,
                 [&](const Tensor& x) { return Log(x) / std::log(base); });
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
Tensor Log(const Operand& x, const Operand& base) {
  const OpScope s("Log", {&x, &base});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(sdk::CommonDType({&x, &base}));
  const Tensor value = s.As(x, sdk::ToAccurate(dtype));
  return s.Convert(Log(value) / Log(s.As(base, value.dtype())), dtype);
}
Tensor Log2(const Operand& x) { return LogToBase("Log2", x, 2); }
Tensor Log10(const Operand& x) { return LogToBase("Log10", x, 10); }
Tensor Sigmoid(const Operand& x) {
  return Apply("Sigmoid", kLogistic, ToFloating, x);
}
Tensor Sqrt(const Operand& x) { return Apply("Sqrt", kSqrt, ToFloating, x); }
Tensor Rsqrt(const Operand& x) { return Apply("Rsqrt", kRsqrt, ToFloating, x); }
Tensor Cbrt(const Operand& x) {
  const OpScope s("Cbrt", {&x});
  if (!s.ok()) return s.error();
  if (!IsComplex(DTypeOf(x))) return Apply("Cbrt", kCbrt, ToFloating, x);
  const Tensor value = s.As(x);
  const OpScope::Formula numbers;
  return Power(value, 1.0 / 3);
}
Tensor Tanh(const Operand& x) { return Apply("Tanh", kTanh, ToFloating, x); }
Tensor Sin(const Operand& x) { return Apply("Sin", kSine, ToFloating, x); }
Tensor Cos(const Operand& x) { return Apply("Cos", kCosine, ToFloating, x); }

Tensor Tan(const Operand& x) { return Apply("Tan", kTan, ToFloating, x); }
Tensor Asin(const Operand& x) { return Apply("Asin", kAsin, x); }
Tensor Acos(const Operand& x) { return Apply("Acos", kAcos, x); }
Tensor Atan(const Operand& x) { return Apply("Atan", kAtan, x); }

Tensor Phase(const Operand& x) {
  const OpScope s("Phase", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x, ToFloating(DTypeOf(x)));
  return Atan2(Imag(value), Real(value));
}

Tensor Sinh(const Operand& x) { return Apply("Sinh", kSinh, x); }
Tensor Cosh(const Operand& x) { return Apply("Cosh", kCosh, x); }
Tensor Asinh(const Operand& x) { return Apply("Asinh", kAsinh, x); }
Tensor Acosh(const Operand& x) { return Apply("Acosh", kAcosh, x); }
Tensor Atanh(const Operand& x) { return Apply("Atanh", kAtanh, x); }

Tensor Conjugate(const Operand& x) {
  const OpScope s("Conjugate", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x, sdk::Promote(DTypeOf(x), DType::kC64));
  return Complex(Real(value), -Imag(value));
}

}  // namespace hawser
