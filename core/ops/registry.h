// The registry: every op, once, from the arrays that end the families'
// headers.
#ifndef HAWSER_CORE_OPS_REGISTRY_H_
#define HAWSER_CORE_OPS_REGISTRY_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/op_def.h"

namespace hawser {

// The opset this build speaks: the largest `since` of any op.
inline constexpr int kOpset = 1;

// Every op, sorted by name.
absl::Span<const OpDef* const> AllOps();
// nullptr for an unknown name.
const OpDef* FindOp(absl::string_view name);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_REGISTRY_H_
