// One op over operands that broadcast and promote: what most SDK functions are.
#ifndef HAWSER_CLIENT_SDK_GRAPH_APPLY_H_
#define HAWSER_CLIENT_SDK_GRAPH_APPLY_H_

#include "absl/strings/string_view.h"
#include "client/sdk/graph/promotion.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/dtype.h"
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

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_APPLY_H_
