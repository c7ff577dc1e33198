#include "core/ops/movement/gather.h"

namespace hawser {
namespace {

// The numbers of a gather, once they are known to make sense.
struct GatherDims {
  explicit GatherDims(const InferContext& c)
      : operand(c.operands[0]),
        indices(c.operands[1]),
        vector_axis(c.attributes.GetInt("index_vector_dim")),
        sizes(c.attributes.GetInts("slice_sizes")),
        collapsed(c.attributes.GetInts("collapsed_slice_dims")),
        map(c.attributes.GetInts("start_index_map")),
        offset(c.attributes.GetInts("offset_dims")) {}

  // Components of one index vector; 1 when the indices are scalars.
  int64_t components() const {
    return vector_axis < indices.rank() ? indices.dim(vector_axis) : 1;
  }
  int result_rank() const {
    return indices.rank() - (vector_axis < indices.rank() ? 1 : 0) +
           static_cast<int>(offset.size());
  }

  const Shape& operand;
  const Shape& indices;
  int64_t vector_axis;
  absl::Span<const int64_t> sizes, collapsed, map, offset;
};

absl::Status CheckSlices(const InferContext& context, const GatherDims& d) {
  if (!IsInteger(d.indices.dtype())) {
    return Violates(1, "the indices are ", DTypeName(d.indices.dtype()));
  }
  if (d.vector_axis < 0 || d.vector_axis > d.indices.rank()) {
    return Violates(2, "index_vector_dim ", d.vector_axis,
                    " is outside the indices ", d.indices.ToString());
  }
  const int rank = d.operand.rank();
  HAWSER_RETURN_IF_ERROR(CheckLength(context, 3, "slice_sizes", rank));
  for (int i = 0; i < rank; ++i) {
    if (d.sizes[i] >= 0 && d.sizes[i] <= d.operand.dim(i)) continue;
    return Violates(4, "slice size ", d.sizes[i], " does not fit axis ", i,
                    " of ", d.operand.ToString());
  }
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 5, "collapsed_slice_dims", rank));
  HAWSER_RETURN_IF_ERROR(CheckAscending(context, 6, "collapsed_slice_dims"));
  for (int64_t axis : d.collapsed) {
    if (d.sizes[axis] == 1) continue;
    return Violates(7, "axis ", axis, " is collapsed but has slice size ",
                    d.sizes[axis]);
  }
  return absl::OkStatus();
}

absl::Status CheckMaps(const InferContext& context, const GatherDims& d) {
  const int rank = d.operand.rank();
  HAWSER_RETURN_IF_ERROR(
      CheckLength(context, 8, "start_index_map", d.components()));
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 9, "start_index_map", rank));
  HAWSER_RETURN_IF_ERROR(CheckUnique(context, 10, "start_index_map"));
  HAWSER_RETURN_IF_ERROR(CheckLength(context, 11, "offset_dims",
                                     rank - d.collapsed.size()));
  HAWSER_RETURN_IF_ERROR(
      CheckAxes(context, 12, "offset_dims", d.result_rank()));
  return CheckAscending(context, 13, "offset_dims");
}

// Calls batch(axis of the result, axis of the indices) and
// offset(axis of the result, axis of the operand) for every axis.
template <typename Batch, typename Offset>
void ForEachResultAxis(const GatherDims& d, Batch batch, Offset offset) {
  int from_indices = 0;
  int from_operand = 0;
  for (int i = 0; i < d.result_rank(); ++i) {
    if (Contains(d.offset, i)) {
      while (Contains(d.collapsed, from_operand)) ++from_operand;
      offset(i, from_operand++);
    } else {
      if (from_indices == d.vector_axis) ++from_indices;
      batch(i, from_indices++);
    }
  }
}

}  // namespace

absl::StatusOr<Shapes> InferGather(const InferContext& context) {
  const GatherDims d(context);
  HAWSER_RETURN_IF_ERROR(CheckSlices(context, d));
  HAWSER_RETURN_IF_ERROR(CheckMaps(context, d));
  Dims dims(d.result_rank());
  ForEachResultAxis(
      d, [&](int to, int from) { dims[to] = d.indices.dim(from); },
      [&](int to, int from) { dims[to] = d.sizes[from]; });
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(14, d.operand.dtype(), dims));
  return Shapes{std::move(result)};
}

// Batch axes are parallel, and so are axes of the operand that every slice
// takes whole. Others of the operand are addressed by values; opaque are the
// axis of index vectors, which must be complete, and axes of the result that
// run through a slice.
AxisMap GatherAxes(const InferContext& context,
                   absl::Span<const Shape> results) {
  const GatherDims d(context);
  AxisMap map = EmptyAxes(context, results);
  auto parallel = [&](AxisMap::Axes& operand, int from, int to) {
    operand[from] = map.AddFactor(AxisKind::kParallel, results[0].dim(to));
    map.results[0][to] = operand[from];
  };
  ForEachResultAxis(
      d, [&](int to, int from) { parallel(map.operands[1], from, to); },
      [&](int to, int from) {
        if (d.sizes[from] == d.operand.dim(from)) {
          parallel(map.operands[0], from, to);
        }
      });
  for (int i = 0; i < d.operand.rank(); ++i) {
    if (map.operands[0][i] != kNoFactor) continue;
    map.operands[0][i] = map.AddFactor(AxisKind::kIndexed, d.operand.dim(i));
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
