#include "client/sdk/graph/build/apply.h"

namespace hawser::sdk {

Tensor Apply(absl::string_view name, const OpDef& op, PromotionRule rule,
             const Operand& x) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  return s.Add(op, {s.As(x, rule(DTypeOf(x)))});
}

Tensor Apply(absl::string_view name, const OpDef& op, PromotionRule rule,
             const Operand& a, const Operand& b) {
  const OpScope s(name, {&a, &b});
  if (!s.ok()) return s.error();
  const auto dims = CommonDims({&a, &b});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType dtype = rule(CommonDType({&a, &b}));
  return s.Add(op, {s.BroadcastTo(s.As(a, dtype), *dims),
                    s.BroadcastTo(s.As(b, dtype), *dims)});
}

Tensor Compose(absl::string_view name, const Operand& x,
               absl::FunctionRef<Tensor(const Tensor&)> formula,
               Integers integers) {
  const OpScope s(name, {&x}, integers);
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, ToAccurate(dtype));
  if (value.dtype() == DType::kInvalid) return value;
  const OpScope::Formula numbers;
  return s.Convert(formula(value), dtype);
}

}  // namespace hawser::sdk
