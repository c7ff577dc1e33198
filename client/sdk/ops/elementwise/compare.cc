#include "client/sdk/ops/elementwise/compare.h"

#include <string>

#include "client/sdk/graph/build/op_scope.h"
#include "core/base/status.h"
#include "core/ops/elementwise/compare.h"

namespace hawser {
namespace {

using sdk::CommonDims;
using sdk::CommonDType;
using sdk::OpScope;

Tensor Compare(absl::string_view name, CompareDirection direction,
               const Operand& a, const Operand& b) {
  const OpScope s(name, {&a, &b});
  if (!s.ok()) return s.error();
  const auto dims = CommonDims({&a, &b});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType dtype = CommonDType({&a, &b});
  return s.Add(kCompare,
               {s.BroadcastTo(s.As(a, dtype), *dims),
                s.BroadcastTo(s.As(b, dtype), *dims)},
               {{"direction", std::string(CompareDirectionName(direction))}});
}

}  // namespace

Tensor Eq(const Operand& a, const Operand& b) {
  return Compare("Eq", CompareDirection::kEq, a, b);
}
Tensor Ne(const Operand& a, const Operand& b) {
  return Compare("Ne", CompareDirection::kNe, a, b);
}
Tensor Lt(const Operand& a, const Operand& b) {
  return Compare("Lt", CompareDirection::kLt, a, b);
}
Tensor Le(const Operand& a, const Operand& b) {
  return Compare("Le", CompareDirection::kLe, a, b);
}
Tensor Gt(const Operand& a, const Operand& b) {
  return Compare("Gt", CompareDirection::kGt, a, b);
}
Tensor Ge(const Operand& a, const Operand& b) {
  return Compare("Ge", CompareDirection::kGe, a, b);
}

Tensor Select(const Operand& predicate, const Operand& a, const Operand& b) {
  const OpScope s("Select", {&predicate, &a, &b});
  if (!s.ok()) return s.error();
  const auto dims = CommonDims({&predicate, &a, &b});
  if (!dims.ok()) return s.Fail(dims.status());
  const DType dtype = CommonDType({&a, &b});
  Tensor chosen = s.Convert(s.As(predicate), DType::kBool);
  if (!chosen.shape().is_scalar()) chosen = s.BroadcastTo(chosen, *dims);
  return s.Add(kSelect, {chosen, s.BroadcastTo(s.As(a, dtype), *dims),
                         s.BroadcastTo(s.As(b, dtype), *dims)});
}

}  // namespace hawser
