#include "core/ops/contraction/scan.h"

#include "core/base/status.h"

namespace hawser {

absl::StatusOr<Shapes> InferScan(const InferContext& context) {
  const Shape& first = context.operands[0];
  for (size_t i = 1; i < context.operands.size(); ++i) {
    if (context.operands[i].SameDims(first)) continue;
    return Violates(1, "input 0 is ", first.ToString(), ", input ", i, " is ",
                    context.operands[i].ToString());
  }
  const int64_t axis = context.attributes.GetInt("dimension");
  if (axis < 0 || axis >= first.rank()) {
    return Violates(2, "dimension ", axis, " is no axis of ",
                    first.ToString());
  }
  HAWSER_RETURN_IF_ERROR(
      CheckCombiner(context, 3, 4, context.operands.size()));
  return Shapes(context.operands.begin(), context.operands.end());
}

AxisMap ScanAxes(const InferContext& context,
                 absl::Span<const Shape> results) {
  const Shape& input = context.operands[0];
  const int64_t axis = context.attributes.GetInt("dimension");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < input.rank(); ++i) {
    const int factor = map.AddFactor(
        i == axis ? AxisKind::kOpaque : AxisKind::kParallel, input.dim(i));
    for (size_t n = 0; n < results.size(); ++n) {
      map.operands[n][i] = factor;
      map.results[n][i] = factor;
    }
  }
  return map;
}

}  // namespace hawser
