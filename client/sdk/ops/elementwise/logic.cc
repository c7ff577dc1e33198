#include "client/sdk/ops/elementwise/logic.h"

#include <limits>

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/elementwise.h"

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
  const OpScope s(name, {&a, &b});
  if (!s.ok()) return s.error();
  const Tensor x = s.As(a), y = s.As(b);
  return Apply(name, op, ToBool, x, y);
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
Tensor PopulationCount(const Operand& x) {
  return Apply("PopulationCount", kPopcnt, Same, x);
}
Tensor CountLeadingZeros(const Operand& x) {
  return Apply("CountLeadingZeros", kCountLeadingZeros, Same, x);
}

Tensor LogicalNot(const Operand& x) {
  const OpScope s("LogicalNot", {&x});
  if (!s.ok()) return s.error();
  return s.Add(kNot, {s.Convert(s.As(x), DType::kBool)});
}

Tensor IsNan(const Operand& x) {
  const OpScope s("IsNan", {&x});
  return s.ok() ? Ne(x, x) : s.error();
}

Tensor IsFinite(const Operand& x) {
  const OpScope s("IsFinite", {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, dtype);
  if (!IsComplex(dtype)) return s.Add(kIsFinite, {value});
  return IsFinite(Real(value)) && IsFinite(Imag(value));
}

Tensor IsInfinity(const Operand& x) {
  const OpScope s("IsInfinity", {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, dtype);
  const OpScope::Formula numbers;
  const auto infinite = [](const Tensor& part) {
    return Eq(Abs(part), std::numeric_limits<double>::infinity());
  };
  if (!IsComplex(dtype)) return infinite(value);
  return infinite(Real(value)) || infinite(Imag(value));
}

}  // namespace hawser
