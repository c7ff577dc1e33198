#include "core/ops/contraction/scan.h"

#include "core/base/status.h"

namespace hawser {

absl::StatusOr<Shapes> InferScan(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckSameDims(context, 1));
  HAWSER_RETURN_IF_ERROR(
      CheckAxis(context, 2, "dimension", context.operands[0]));
  HAWSER_RETURN_IF_ERROR(
      CheckCombiner(context, 3, 4, context.operands.size()));
  return Shapes(context.operands.begin(), context.operands.end());
}

}  // namespace hawser
