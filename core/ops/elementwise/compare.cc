#include "core/ops/elementwise/compare.h"

#include "core/base/status.h"

namespace hawser {
namespace {

// Indexed by CompareDirection.
constexpr absl::string_view kDirections[] = {"EQ", "NE", "GE",
                                             "GT", "LE", "LT"};

}  // namespace

absl::string_view CompareDirectionName(CompareDirection direction) {
  return kDirections[static_cast<int>(direction)];
}

std::optional<CompareDirection> ParseCompareDirection(absl::string_view name) {
  for (int i = 0; i < static_cast<int>(std::size(kDirections)); ++i) {
    if (kDirections[i] == name) return static_cast<CompareDirection>(i);
  }
  return std::nullopt;
}

CompareDirection Mirrored(CompareDirection direction) {
  using enum CompareDirection;
  constexpr CompareDirection kMirrored[] = {kEq, kNe, kLe, kLt, kGe, kGt};
  return kMirrored[static_cast<int>(direction)];
}

CompareDirection CompareDirectionOf(const Attributes& attributes) {
  const auto direction =
      ParseCompareDirection(attributes.GetString("direction"));
  HAWSER_CHECK(direction.has_value());
  return *direction;
}

absl::StatusOr<Shapes> InferCompare(const InferContext& context) {
  const Shape& lhs = context.operands[0];
  const Shape& rhs = context.operands[1];
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 2));
  if (!lhs.SameDims(rhs)) {
    return Violates(3, "operand 0 is ", lhs.ToString(), ", operand 1 is ",
                    rhs.ToString());
  }
  const absl::string_view name = context.attributes.GetString("direction");
  const auto direction = ParseCompareDirection(name);
  if (!direction.has_value()) {
    return Violates(4, "direction is \"", name.substr(0, 16),
                    "\", must be EQ, NE, GE, GT, LE or LT");
  }
  if (IsComplex(lhs.dtype()) && direction != CompareDirection::kEq &&
      direction != CompareDirection::kNe) {
    return Violates(5, DTypeName(lhs.dtype()), " has no order for direction ",
                    name);
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
