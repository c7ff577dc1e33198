#include "core/ops/compare.h"

#include <algorithm>

namespace hawser {
namespace {

bool IsDirection(absl::string_view direction) {
  constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE",
                                               "GT", "LE", "LT"};
  return std::find(std::begin(kDirections), std::end(kDirections),
                   direction) != std::end(kDirections);
}

}  // namespace

absl::StatusOr<Shapes> InferCompare(const InferContext& context) {
  const Shape& lhs = context.operands[0];
  const Shape& rhs = context.operands[1];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  if (!lhs.SameDims(rhs)) {
    return Violates(3, "operand 0 is ", lhs.ToString(), ", operand 1 is ",
                    rhs.ToString());
  }
  const absl::string_view direction = context.attributes.GetString("direction");
  if (!IsDirection(direction)) {
    return Violates(4, "direction is \"", direction.substr(0, 16),
                    "\", must be EQ, NE, GE, GT, LE or LT");
  }
  if (IsComplex(lhs.dtype()) && direction != "EQ" && direction != "NE") {
    return Violates(5, DTypeName(lhs.dtype()), " has no order for direction ",
                    direction);
  }
  return Shapes{lhs.WithDType(ResultDType(context))};
}

absl::StatusOr<Shapes> InferSelect(const InferContext& context) {
  const Shape& predicate = context.operands[0];
  const Shape& on_true = context.operands[1];
  const Shape& on_false = context.operands[2];
  if (predicate.dtype() != DType::kBool) {
    return Violates(1, "the predicate is ", predicate.ToString(),
                    ", must be bool");
  }
  if (on_true != on_false) {
    return Violates(2, "one case is ", on_true.ToString(), ", the other ",
                    on_false.ToString());
  }
  if (!predicate.is_scalar() && !predicate.SameDims(on_true)) {
    return Violates(3, "the predicate is ", predicate.ToString(),
                    ", the cases are ", on_true.ToString());
  }
  return Shapes{on_true};
}

}  // namespace hawser
