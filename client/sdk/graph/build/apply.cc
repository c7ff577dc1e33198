#include "client/sdk/graph/build/apply.h"

#include <string>
#include <utility>
#include <vector>

#include "client/sdk/graph/build/inline.h"
#include "core/base/status.h"
#include "core/ir/builder.h"

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

Tensor Apply(absl::string_view name, const OpScope& scope,
             absl::Span<const Tensor> on,
             absl::FunctionRef<Expression(absl::Span<const Expression>)> fn) {
  for (const Tensor& x : on) {
    if (x.dtype() == DType::kInvalid) return x;
  }
  RegionDef region{Module(std::string(name))};
  ComputationBuilder builder(&region.module, std::string(name));
  Monoids monoids;
  ExpressionScope within{builder, monoids};
  std::vector<Expression> parameters;
  for (const Tensor& x : on) {
    parameters.emplace_back(&within, builder.Parameter(x.shape()));
  }
  const auto entry = builder.Finish({fn(parameters).value()});
  if (!entry.ok()) return scope.Fail(entry.status());
  return Inline(name, region, on, scope.where())[0];
}

Tensor Apply(absl::string_view name, const Formula& formula, const Operand& x) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  if (!Takes(formula, dtype)) {
    return s.Fail(InvalidArgument("takes reals, not ", DTypeName(dtype)));
  }
  const Tensor value = s.As(x, dtype);
  return Apply(name, s, {&value, 1}, [&](absl::Span<const Expression> on) {
    return Computed(formula, on[0]);
  });
}

}  // namespace hawser::sdk
