#include "core/ops/elementwise.h"

namespace hawser {

absl::StatusOr<Shapes> InferElementwise(const InferContext& context) {
  const Shape& first = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  for (size_t i = 1; i < context.operands.size(); ++i) {
    const Shape& other = context.operands[i];
    if (other.SameDims(first)) continue;
    return Violates(3, "operand 0 is ", first.ToString(), ", operand ", i,
                    " is ", other.ToString());
  }
  const DType dtype = ResultDType(context);
  if (dtype == first.dtype()) return Shapes{first};
  // `complex` doubles the bytes of an element.
  HAWSER_ASSIGN_OR_RETURN(Shape result, MakeResult(3, dtype, first.dims()));
  return Shapes{std::move(result)};
}

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
