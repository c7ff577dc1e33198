#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

// Operands from `first` on are the starts: constraints `n`, n + 1 and n + 2 are
// one per axis, integer scalars, of one dtype.
absl::Status CheckStarts(const InferContext& context, int n, int first) {
  const int rank = context.operands[0].rank();
  const int got = static_cast<int>(context.operands.size()) - first;
  if (got != rank) {
    return Violates(n, "operand 0 has rank ", rank, ", but there are ",
                    got, " starts");
  }
  for (int i = first; i < first + got; ++i) {
    const Shape& start = context.operands[i];
    if (start.is_scalar() && IsInteger(start.dtype())) continue;
    return Violates(n + 1, "the start of axis ", i - first, " is ",
                    start.ToString(), ", must be an integer scalar");
  }
  return got == 0 ? absl::OkStatus()
                  : CheckSameDTypes(context, n + 2, first);
}

// Axis i of the operand, the part and the result where the part is whole.
void WholeAxis(AxisMap& map, int i, int64_t size, int operand) {
  if (map.results[0][i] == kNoFactor) {
    map.results[0][i] = map.AddFactor(AxisKind::kParallel, size);
  }
  map.operands[operand][i] = map.results[0][i];
}

}  // namespace

absl::StatusOr<Shapes> InferSlice(const InferContext& context) {
  const Shape& operand = context.operands[0];
  for (const AttributeSpec& spec : context.op.attributes) {
    HAWSER_RETURN_IF_ERROR(
        CheckLength(context, 1, spec.name, operand.rank()));
  }
  const auto start = context.attributes.GetInts("start_indices");
  const auto limit = context.attributes.GetInts("limit_indices");
  const auto stride = context.attributes.GetInts("strides");
  Dims dims;
  for (int i = 0; i < operand.rank(); ++i) {
    if (start[i] < 0 || start[i] > limit[i] || limit[i] > operand.dim(i)) {
      return Violates(2, "[", start[i], ", ", limit[i], ") is no part of axis ",
                      i, " of ", operand.ToString());
    }
    if (stride[i] < 1) {
      return Violates(3, "the stride of axis ", i, " is ", stride[i]);
    }
    const int64_t length = limit[i] - start[i];
    dims.push_back(length / stride[i] + (length % stride[i] != 0));
  }
  return Shapes{Shape::Of(operand.dtype(), dims)};
}

absl::StatusOr<Shapes> InferDynamicSlice(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckStarts(context, 1, 1));
  HAWSER_RETURN_IF_ERROR(
      CheckLength(context, 4, "slice_sizes", operand.rank()));
  const auto sizes = context.attributes.GetInts("slice_sizes");
  for (int i = 0; i < operand.rank(); ++i) {
    if (sizes[i] >= 0 && sizes[i] <= operand.dim(i)) continue;
    return Violates(5, "slice size ", sizes[i], " does not fit axis ", i,
                    " of ", operand.ToString());
  }
  return Shapes{Shape::Of(operand.dtype(), sizes)};
}

absl::StatusOr<Shapes> InferDynamicUpdateSlice(const InferContext& context) {
  const Shape& operand = context.operands[0];
  const Shape& update = context.operands[1];
  if (update.dtype() != operand.dtype()) {
    return Violates(1, "the update is ", DTypeName(update.dtype()),
                    ", the operand ", DTypeName(operand.dtype()));
  }
  if (update.rank() != operand.rank()) {
    return Violates(2, "the update is ", update.ToString(), ", the operand ",
                    operand.ToString());
  }
  for (int i = 0; i < operand.rank(); ++i) {
    if (update.dim(i) <= operand.dim(i)) continue;
    return Violates(3, "the update ", update.ToString(),
                    " is larger in axis ", i, " than ", operand.ToString());
  }
  HAWSER_RETURN_IF_ERROR(CheckStarts(context, 4, 2));
  return Shapes{operand};
}

// An axis that is not taken whole is opaque: a part of the slice need not lie
// in the same part of the operand.
AxisMap SliceAxes(const InferContext& context,
                  absl::Span<const Shape> results) {
  const Shape& operand = context.operands[0];
  const auto stride = context.attributes.GetInts("strides");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < operand.rank(); ++i) {
    if (stride[i] == 1 && results[0].dim(i) == operand.dim(i)) {
      WholeAxis(map, i, operand.dim(i), 0);
    }
  }
  return OpaqueRest(std::move(map), context, results);
}

// An axis taken whole starts at 0 whatever the start says. Any other is
// addressed by a value; that of the result is opaque.
AxisMap DynamicSliceAxes(const InferContext& context,
                         absl::Span<const Shape> results) {
  const Shape& operand = context.operands[0];
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < operand.rank(); ++i) {
    if (results[0].dim(i) == operand.dim(i)) {
      WholeAxis(map, i, operand.dim(i), 0);
    } else {
      map.operands[0][i] = map.AddFactor(AxisKind::kIndexed, operand.dim(i));
    }
  }
  return OpaqueRest(std::move(map), context, results);
}

// The same as DynamicSliceAxes, with the update as the slice; operand and
// result have every axis in common.
AxisMap DynamicUpdateSliceAxes(const InferContext& context,
                               absl::Span<const Shape> results) {
  const Shape& operand = context.operands[0];
  const Shape& update = context.operands[1];
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < operand.rank(); ++i) {
    if (update.dim(i) == operand.dim(i)) {
      WholeAxis(map, i, operand.dim(i), 0);
      WholeAxis(map, i, operand.dim(i), 1);
    } else {
      const int factor = map.AddFactor(AxisKind::kIndexed, operand.dim(i));
      map.operands[0][i] = factor;
      map.results[0][i] = factor;
    }
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
