#include "core/ops/elementwise/elementwise.h"

namespace hawser {

absl::StatusOr<Shapes> InferClamp(const InferContext& context) {
  const Shape& operand = context.operands[1];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 1));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  for (int i : {0, 2}) {
    const Shape& bound = context.operands[i];
    if (bound.is_scalar() || bound.SameDims(operand)) continue;
    return Violates(3, i == 0 ? "min" : "max", " is ", bound.ToString(),
                    ", the operand is ", operand.ToString());
  }
  return Shapes{operand};
}

}  // namespace hawser
