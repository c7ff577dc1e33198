// What most SDK functions are: one op over operands that broadcast and promote,
// or a formula over such functions.
#ifndef HAWSER_CLIENT_SDK_GRAPH_BUILD_APPLY_H_
#define HAWSER_CLIENT_SDK_GRAPH_BUILD_APPLY_H_

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"
#include "core/ir/op_def.h"

namespace hawser::sdk {

// What the operands' common dtype becomes before the op.
using PromotionRule = DType (*)(DType);
inline DType Same(DType d) { return d; }
inline DType ToBool(DType) { return DType::kBool; }

Tensor Apply(absl::string_view name, const OpDef& op, PromotionRule rule,
             const Operand& x);
Tensor Apply(absl::string_view name, const OpDef& op, PromotionRule rule,
             const Operand& a, const Operand& b);

// `formula` of x, in a dtype that is rounded once, at the end.
Tensor Compose(absl::string_view name, const Operand& x,
               absl::FunctionRef<Tensor(const Tensor&)> formula,
               Integers integers = {});

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_BUILD_APPLY_H_
