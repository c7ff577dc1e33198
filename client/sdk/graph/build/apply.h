// Most SDK functions are one of these: one op over operands that broadcast and
// promote, or a formula over such functions.
#ifndef HAWSER_CLIENT_SDK_GRAPH_BUILD_APPLY_H_
#define HAWSER_CLIENT_SDK_GRAPH_BUILD_APPLY_H_

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"
#include "core/ir/op_def.h"
#include "core/ops/expression.h"
#include "core/ops/formulas/formulas.h"

namespace hawser::sdk {

// Maps the operands' common dtype to the one that the op takes.
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

// A formula of core/ops of x, in the dtype ToFloating makes of x's. Errors: one
// that it does not take.
Tensor Apply(absl::string_view name, const Formula& formula, const Operand& x);
// A formula of tensors of any shapes, as instructions of the current trace or
// recording.
Tensor Apply(absl::string_view name, const OpScope& scope,
             absl::Span<const Tensor> on,
             absl::FunctionRef<Expression(absl::Span<const Expression>)> fn);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_BUILD_APPLY_H_
