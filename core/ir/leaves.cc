#include "core/ir/leaves.h"

namespace hawser {

absl::StatusOr<Shapes> InferFromShapeAttributes(const InferContext& context) {
  auto shape = Shape::Make(context.attributes.GetDType("dtype"),
                           context.attributes.GetInts("dims"));
  if (!shape.ok()) return Violates(1, shape.status().message());
  return Shapes{*std::move(shape)};
}

absl::StatusOr<Shapes> InferConstant(const InferContext& context) {
  const Literal& value = context.attributes.GetLiteral("value");
  if (!value.valid()) return Violates(1, "the value is missing");
  return Shapes{value.shape()};
}

AxisMap AllResultAxesParallel(const InferContext&,
                              absl::Span<const Shape> results) {
  AxisMap map;
  AxisMap::Axes axes;
  for (int64_t size : results[0].dims()) {
    axes.push_back(map.AddFactor(AxisKind::kParallel, size));
  }
  map.results.push_back(std::move(axes));
  return map;
}

}  // namespace hawser
