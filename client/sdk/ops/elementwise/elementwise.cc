#include "client/sdk/ops/elementwise/elementwise.h"

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/bits.h"

namespace hawser {
namespace {

using sdk::Apply;
using sdk::CommonDims;
using sdk::CommonDType;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::Same;
using sdk::ToFloating;
using sdk::ToNumeric;

// Whole numbers already are what rounding makes of them.
Tensor RoundWith(absl::string_view name, const OpDef& op, const Operand& x) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  const DType dtype = DTypeOf(x);
  if (IsInteger(dtype) || IsBool(dtype)) return s.As(x);
  return s.Add(op, {s.As(x)});
}

Tensor ApplyToIntegers(absl::string_view name, const OpDef& op,
                       const Operand& a, const Operand& b) {
  const OpScope s(name, {&a, &b});
  if (!s.ok()) return s.error();
  if (const DType d = ToNumeric(CommonDType({&a, &b})); !IsInteger(d)) {
    return s.Fail(InvalidArgument("takes integers, not ", DTypeName(d)));
  }
  return Apply(name, op, ToNumeric, a, b);
}

}  // namespace

Tensor Negate(const Operand& x) {
  return Apply("Negate", kNegate, ToNumeric, x);
}
Tensor Abs(const Operand& x) { return Apply("Abs", kAbs, ToNumeric, x); }
Tensor Sign(const Operand& x) { return Apply("Sign", kSign, ToNumeric, x); }
Tensor Floor(const Operand& x) { return RoundWith("Floor", kFloor, x); }
Tensor Ceil(const Operand& x) { return RoundWith("Ceil", kCeil, x); }
Tensor RoundEven(const Operand& x) {
  return RoundWith("RoundEven", kRoundNearestEven, x);
}

Tensor Real(const Operand& x) { return Apply("Real", kReal, ToFloating, x); }
Tensor Imag(const Operand& x) { return Apply("Imag", kImag, ToFloating, x); }

Tensor Add(const Operand& a, const Operand& b) {
  return Apply("Add", kAdd, ToNumeric, a, b);
}
Tensor Subtract(const Operand& a, const Operand& b) {
  return Apply("Subtract", kSubtract, ToNumeric, a, b);
}
Tensor Multiply(const Operand& a, const Operand& b) {
  return Apply("Multiply", kMultiply, ToNumeric, a, b);
}
Tensor Divide(const Operand& a, const Operand& b) {
  return Apply("Divide", kDivide, ToFloating, a, b);
}
Tensor Quotient(const Operand& a, const Operand& b) {
  return ApplyToIntegers("Quotient", kDivide, a, b);
}
Tensor Remainder(const Operand& a, const Operand& b) {
  return Apply("Remainder", kRemainder, ToNumeric, a, b);
}
Tensor Power(const Operand& a, const Operand& b) {
  return Apply("Power", kPower, ToNumeric, a, b);
}
Tensor Atan2(const Operand& a, const Operand& b) {
  return Apply("Atan2", kAtan2, ToFloating, a, b);
}
Tensor Maximum(const Operand& a, const Operand& b) {
  return Apply("Maximum", kMaximum, Same, a, b);
}
Tensor Minimum(const Operand& a, const Operand& b) {
  return Apply("Minimum", kMinimum, Same, a, b);
}
Tensor Complex(const Operand& re, const Operand& im) {
  return Apply("Complex", kComplex, ToFloating, re, im);
}

Tensor Square(const Operand& x) {
  const OpScope s("Square", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  return value * value;
}

Tensor Round(const Operand& x) {
  return RoundWith("Round", kRoundNearestAfz, x);
}

Tensor NextAfter(const Operand& from, const Operand& to) {
  const OpScope s("NextAfter", {&from, &to});
  if (!s.ok()) return s.error();
  const auto dims = CommonDims({&from, &to});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType dtype = ToFloating(CommonDType({&from, &to}));
  if (!IsFloat(dtype)) {
    return s.Fail(InvalidArgument("takes reals, not ", DTypeName(dtype)));
  }
  const Tensor on[] = {s.BroadcastTo(s.As(from, dtype), *dims),
                       s.BroadcastTo(s.As(to, dtype), *dims)};
  return Apply("NextAfter", s, on, [](absl::Span<const Expression> x) {
    return formulas::NextAfter(x[0], x[1]);
  });
}

Tensor ReducePrecision(const Operand& x, int64_t exponent_bits,
                       int64_t mantissa_bits) {
  const OpScope s("ReducePrecision", {&x}, {{exponent_bits, mantissa_bits}});
  if (!s.ok()) return s.error();
  return s.Add(
      kReducePrecision, {s.As(x)},
      {{"exponent_bits", exponent_bits}, {"mantissa_bits", mantissa_bits}});
}

Tensor Clip(const Operand& x, const Operand& low, const Operand& high) {
  const OpScope s("Clip", {&x, &low, &high});
  if (!s.ok()) return s.error();
  const auto dims = CommonDims({&x, &low, &high});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType dtype = CommonDType({&x, &low, &high});
  const auto bound = [&](const Operand& b) {
    const Tensor value = s.As(b, dtype);
    return value.shape().is_scalar() ? value : s.BroadcastTo(value, *dims);
  };
  return s.Add(kClamp, {bound(low), s.BroadcastTo(s.As(x, dtype), *dims),
                        bound(high)});
}

Tensor Convert(const Operand& x, DType dtype) {
  const OpScope s("Convert", {&x});
  return s.ok() ? s.Convert(s.As(x), dtype) : s.error();
}

Tensor Bitcast(const Operand& x, DType dtype) {
  const OpScope s("Bitcast", {&x});
  if (!s.ok()) return s.error();
  return s.Add(kBitcastConvert, {s.As(x)}, {{"dtype", dtype}});
}

}  // namespace hawser
