#include "client/sdk/graph/apply.h"

#include "client/sdk/graph/op_scope.h"

namespace hawser::sdk {

Tensor Apply(absl::string_view name, const OpDef& op, PromotionRule rule,
             const Operand& x) {
  const OpScope s(name, x.where(), {&x});
  if (!s.ok()) return s.error();
  return s.Add(op, {s.As(x, rule(DTypeOf(x)))});
}

Tensor Apply(absl::string_view name, const OpDef& op, PromotionRule rule,
             const Operand& a, const Operand& b) {
  const OpScope s(name, a.where(), {&a, &b});
  if (!s.ok()) return s.error();
  const auto dims = CommonDims({&a, &b});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType dtype = rule(CommonDType({&a, &b}));
  return s.Add(op, {s.BroadcastTo(s.As(a, dtype), *dims),
                    s.BroadcastTo(s.As(b, dtype), *dims)});
}

}  // namespace hawser::sdk
