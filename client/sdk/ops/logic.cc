#include "client/sdk/ops/logic.h"

#include <limits>

#include "client/sdk/graph/apply.h"
#include "client/sdk/graph/op_scope.h"
#include "client/sdk/ops/compare.h"
#include "core/ops/elementwise.h"

namespace hawser {
namespace {

using sdk::Apply;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::Same;
using sdk::ToBool;
using sdk::ToFloating;
using sdk::ToNumeric;

// Operands of any dtype as truth values; a number is made a tensor first.
Tensor ApplyToTruth(absl::string_view name, const OpDef& op, const Operand& a,
                    const Operand& b) {
  const OpScope s(name, a.where(), {&a, &b});
  if (!s.ok()) return s.error();
  const Tensor x = s.As(a), y = s.As(b);
  return Apply(name, op, ToBool, Operand(x, a.where()), Operand(y, b.where()));
}

}  // namespace

Tensor BitwiseNot(const Operand& x) {
  return Apply("BitwiseNot", kNot, Same, x);
}
Tensor BitwiseAnd(const Operand& a, const Operand& b) {
  return Apply("BitwiseAnd", kAnd, Same, a, b);
}
Tensor BitwiseOr(const Operand& a, const Operand& b) {
  return Apply("BitwiseOr", kOr, Same, a, b);
}
Tensor BitwiseXor(const Operand& a, const Operand& b) {
  return Apply("BitwiseXor", kXor, Same, a, b);
}
Tensor LeftShift(const Operand& a, const Operand& b) {
  return Apply("LeftShift", kShiftLeft, ToNumeric, a, b);
}
Tensor RightShift(const Operand& a, const Operand& b) {
  const bool is_signed = IsSigned(sdk::CommonDType({&a, &b}));
  return Apply("RightShift",
               is_signed ? kShiftRightArithmetic : kShiftRightLogical,
               ToNumeric, a, b);
}
Tensor RightShiftLogical(const Operand& a, const Operand& b) {
  return Apply("RightShiftLogical", kShiftRightLogical, ToNumeric, a, b);
}

Tensor LogicalAnd(const Operand& a, const Operand& b) {
  return ApplyToTruth("LogicalAnd", kAnd, a, b);
}
Tensor LogicalOr(const Operand& a, const Operand& b) {
  return ApplyToTruth("LogicalOr", kOr, a, b);
}
Tensor LogicalXor(const Operand& a, const Operand& b) {
  return ApplyToTruth("LogicalXor", kXor, a, b);
}
Tensor LogicalNot(const Operand& x) {
  const OpScope s("LogicalNot", x.where(), {&x});
  if (!s.ok()) return s.error();
  return s.Add(kNot, {s.Convert(s.As(x), DType::kBool)});
}

Tensor IsNan(const Operand& x) {
  const OpScope s("IsNan", x.where(), {&x});
  return s.ok() ? Ne(x, x) : s.error();
}

Tensor IsFinite(const Operand& x) {
  const OpScope s("IsFinite", x.where(), {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, dtype);
  if (!IsComplex(dtype)) return s.Add(kIsFinite, {value});
  return s.Add(kAnd, {s.Add(kIsFinite, {s.Add(kReal, {value})}),
                      s.Add(kIsFinite, {s.Add(kImag, {value})})});
}

Tensor IsInfinity(const Operand& x) {
  const OpScope s("IsInfinity", x.where(), {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, dtype);
  const auto infinite = [&](const Tensor& part) {
    const Tensor size = s.Add(kAbs, {part});
    const Tensor infinity =
        s.ConstantOf(std::numeric_limits<double>::infinity(), size.dtype());
    return Eq(Operand(size, x.where()), infinity);
  };
  if (value.dtype() == DType::kInvalid) return value;
  if (!IsComplex(dtype)) return infinite(value);
  return s.Add(
      kOr, {infinite(s.Add(kReal, {value})), infinite(s.Add(kImag, {value}))});
}

}  // namespace hawser
