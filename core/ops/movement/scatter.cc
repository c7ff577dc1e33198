#include "core/ops/movement/scatter.h"

#include <utility>

#include "core/base/status.h"

namespace hawser {
namespace {

// The numbers of a scatter, once they are known to make sense.
struct ScatterDims {
  explicit ScatterDims(const InferContext& c)
      : count(c.operands.size() / 2),
        input(c.operands[0]),
        indices(c.operands[count]),
        updates(c.operands[count + 1]),
        vector_axis(c.attributes.GetInt("index_vector_dim")),
        inserted(c.attributes.GetInts("inserted_window_dims")),
        map(c.attributes.GetInts("scatter_dims_to_operand_dims")),
        window(c.attributes.GetInts("update_window_dims")) {}

  // Components of one index vector; 1 when the indices are scalars.
  int64_t components() const {
    return vector_axis < indices.rank() ? indices.dim(vector_axis) : 1;
  }
  int batch_rank() const {
    return indices.rank() - (vector_axis < indices.rank() ? 1 : 0);
  }

  size_t count;  // of inputs
  const Shape& input;
  const Shape& indices;
  const Shape& updates;
  int64_t vector_axis;
  absl::Span<const int64_t> inserted, map, window;
};

absl::Status CheckOperands(const InferContext& context) {
  const size_t n = context.operands.size() / 2;
  if (context.operands.size() != 2 * n + 1) {
    return Violates(1, context.operands.size(),
                    " operands are not inputs, indices and as many updates");
  }
  for (size_t i = 0; i < n; ++i) {
    const Shape& input = context.operands[i];
    const Shape& updates = context.operands[n + 1 + i];
    if (!input.SameDims(context.operands[0])) {
      return Violates(2, "input 0 is ", context.operands[0].ToString(),
                      ", input ", i, " is ", input.ToString());
    }
    if (!updates.SameDims(context.operands[n + 1])) {
      return Violates(3, "updates 0 are ",
                      context.operands[n + 1].ToString(), ", updates ", i,
                      " are ", updates.ToString());
    }
    if (updates.dtype() != input.dtype()) {
      return Violates(4, "updates ", i, " are ", DTypeName(updates.dtype()),
                      ", input ", i, " is ", DTypeName(input.dtype()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMaps(const InferContext& context, const ScatterDims& d) {
  if (!IsInteger(d.indices.dtype())) {
    return Violates(5, "the indices are ", DTypeName(d.indices.dtype()));
  }
  if (d.vector_axis < 0 || d.vector_axis > d.indices.rank()) {
    return Violates(6, "index_vector_dim ", d.vector_axis,
                    " is outside the indices ", d.indices.ToString());
  }
  const int rank = d.input.rank();
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 7, "inserted_window_dims", rank));
  HAWSER_RETURN_IF_ERROR(CheckAscending(context, 8, "inserted_window_dims"));
  HAWSER_RETURN_IF_ERROR(CheckLength(context, 9, "update_window_dims",
                                     rank - d.inserted.size()));
  const int update_rank = d.batch_rank() + static_cast<int>(d.window.size());
  if (d.updates.rank() != update_rank) {
    return Violates(10, "the updates are ", d.updates.ToString(),
                    ", must have rank ", update_rank);
  }
  HAWSER_RETURN_IF_ERROR(
      CheckAxes(context, 11, "update_window_dims", update_rank));
  HAWSER_RETURN_IF_ERROR(CheckAscending(context, 12, "update_window_dims"));
  constexpr absl::string_view kMap = "scatter_dims_to_operand_dims";
  HAWSER_RETURN_IF_ERROR(CheckLength(context, 13, kMap, d.components()));
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 14, kMap, rank));
  return CheckUnique(context, 15, kMap);
}

// Calls batch(axis of the updates, axis of the indices) and
// window(axis of the updates, axis of the inputs) for every axis.
template <typename Batch, typename Window>
void ForEachUpdateAxis(const ScatterDims& d, Batch batch, Window window) {
  int of_indices = 0;
  int of_input = 0;
  for (int i = 0; i < d.updates.rank(); ++i) {
    if (Contains(d.window, i)) {
      while (Contains(d.inserted, of_input)) ++of_input;
      window(i, of_input++);
    } else {
      if (of_indices == d.vector_axis) ++of_indices;
      batch(i, of_indices++);
    }
  }
}

absl::Status CheckUpdates(const ScatterDims& d) {
  absl::Status status;
  ForEachUpdateAxis(
      d,
      [&](int at, int axis) {
        if (!status.ok() || d.updates.dim(at) == d.indices.dim(axis)) return;
        status = Violates(17, "axis ", at, " of the updates ",
                          d.updates.ToString(), " is not axis ", axis,
                          " of the indices ", d.indices.ToString());
      },
      [&](int at, int axis) {
        if (!status.ok() || d.updates.dim(at) <= d.input.dim(axis)) return;
        status = Violates(16, "axis ", at, " of the updates ",
                          d.updates.ToString(), " is longer than axis ", axis,
                          " of ", d.input.ToString());
      });
  return status;
}

}  // namespace

absl::StatusOr<Shapes> InferScatter(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckOperands(context));
  const ScatterDims d(context);
  HAWSER_RETURN_IF_ERROR(CheckMaps(context, d));
  HAWSER_RETURN_IF_ERROR(CheckUpdates(d));
  HAWSER_RETURN_IF_ERROR(CheckCombiner(context, 18, 19, d.count));
  return Shapes(context.operands.begin(), context.operands.begin() + d.count);
}

// Axes that every window takes whole are parallel; others of the inputs are
// addressed by values, and a part of the result needs the same part of them.
// Opaque are the axis of index vectors, axes of windows that move, and the
// batch: what updates one element in turn cannot be split, since the
// computation need not be associative.
AxisMap ScatterAxes(const InferContext& context,
                    absl::Span<const Shape> results) {
  const ScatterDims d(context);
  AxisMap map = EmptyAxes(context, results);
  auto share = [&](int axis, AxisKind kind) {
    const int factor = map.AddFactor(kind, d.input.dim(axis));
    for (size_t n = 0; n < d.count; ++n) {
      map.operands[n][axis] = factor;
      map.results[n][axis] = factor;
    }
    return factor;
  };
  ForEachUpdateAxis(
      d, [](int, int) {},
      [&](int at, int axis) {
        if (Contains(d.map, axis) || d.updates.dim(at) != d.input.dim(axis)) {
          return;
        }
        const int factor = share(axis, AxisKind::kParallel);
        for (size_t n = 0; n < d.count; ++n) {
          map.operands[d.count + 1 + n][at] = factor;
        }
      });
  for (int axis = 0; axis < d.input.rank(); ++axis) {
    if (map.operands[0][axis] == kNoFactor) share(axis, AxisKind::kIndexed);
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
