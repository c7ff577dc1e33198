#include "client/sdk/functions/batch/vmap.h"

#include <memory>
#include <utility>

#include "client/sdk/graph/build/inline.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/places.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/graph/user_code.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/probes/probes.h"
#include "core/base/status.h"
#include "core/vectorize/vectorize.h"

namespace hawser::sdk {
namespace {

// The entries of a batch: where they lie in each leaf, and how many they are.
struct Batch {
  std::vector<std::optional<int>> axes;
  int64_t size = 0;
};

// The axis, from the front. Errors: there is none.
absl::StatusOr<int> AxisOf(const VmapLeaf& leaf, int64_t axis) {
  const int rank = leaf.tensor.rank();
  if (axis >= -rank && axis < rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  return InvalidArgument("argument ", leaf.argument, " has a ",
                         leaf.tensor.shape().ToString(), ", which has no axis ",
                         axis,
                         " for the entries; in_axes says std::nullopt of what "
                         "all entries share");
}

absl::StatusOr<Batch> BatchOf(absl::Span<const VmapLeaf> leaves,
                              size_t arguments, const VmapOptions& options) {
  if (!options.in_axes.empty() && options.in_axes.size() != arguments) {
    return InvalidArgument("in_axes is of ", options.in_axes.size(),
                           " arguments, there are ", arguments);
  }
  Batch batch;
  const VmapLeaf* first = nullptr;
  int axis_of_first = 0;
  for (const VmapLeaf& leaf : leaves) {
    const std::optional<int64_t> axis =
        options.in_axes.empty() ? 0 : options.in_axes[leaf.argument];
    batch.axes.emplace_back();
    if (!axis.has_value()) continue;
    HAWSER_ASSIGN_OR_RETURN(const int at, AxisOf(leaf, *axis));
    batch.axes.back() = at;
    const int64_t size = leaf.tensor.shape().dim(at);
    if (first == nullptr) {
      first = &leaf;
      axis_of_first = at;
      batch.size = size;
    } else if (size != batch.size) {
      return InvalidArgument(
          "argument ", leaf.argument, " has ", size, " entries, along axis ",
          at, " of ", leaf.tensor.shape().ToString(), ", argument ",
          first->argument, " has ", batch.size, ", along axis ", axis_of_first,
          " of ", first->tensor.shape().ToString());
    }
  }
  if (first != nullptr) return batch;
  return InvalidArgument(
      "no argument has entries: in_axes must say an axis of one that holds a "
      "tensor");
}

// Axis `from` becomes axis `to`.
Tensor WithAxisMoved(const Tensor& x, int from, int to) {
  if (from == to) return x;
  Dims order;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != from) order.push_back(i);
  }
  order.insert(order.begin() + to, from);
  return Transpose(x, order);
}

Shape WithoutAxis(const Shape& shape, std::optional<int> axis) {
  if (!axis.has_value()) return shape;
  Dims dims = shape.dims();
  dims.erase(dims.begin() + *axis);
  return Shape::Of(shape.dtype(), dims);
}

// The traced computation for the batch; what it lifted is shared.
absl::StatusOr<Region> ForBatch(const RegionDef& traced, const Batch& batch) {
  std::vector<int> origins;
  VectorizeOptions options;
  options.size = batch.size;
  for (const auto& axis : batch.axes) {
    options.batched.push_back(axis.has_value());
  }
  options.batched.resize(traced.module.signature().parameters.size(), false);
  options.where = traced.places->at;
  options.origins = &origins;
  HAWSER_ASSIGN_OR_RETURN(Module module, Vectorize(traced.module, options));
  auto places =
      PlacesBy(origins, *traced.places, traced.module.entry(), module.entry());
  return MakeRegion(std::move(module), std::move(places));
}

// An iteration is that in which a value came last for any entry.
void ShowBatched(absl::Span<const Tensor> values,
                 std::vector<Printed> printed) {
  ReplaceTensors(values, &printed);
  for (Printed& p : printed) {
    if (p.turns.has_value()) p.turns = ReduceMax(*p.turns, {.axes = {0}});
    Show(std::move(p));
  }
}

absl::StatusOr<int> OutAxis(int64_t axis, const Tensor& result) {
  const int rank = result.rank();  // with the axis
  if (axis >= -rank && axis < rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }
  return InvalidArgument("out_axis ", axis, " is no axis of the result ",
                         result.shape().ToString(),
                         ", in which the entries lie along axis 0");
}

// The function, traced for one entry.
struct TracedEntry {
  Values results;
  std::vector<Printed> printed;
};
TracedEntry TraceOne(absl::Span<const VmapLeaf> leaves, const Batch& batch,
                     absl::FunctionRef<Values(const Values&)> fn,
                     SourceLocation where, Trace* trace) {
  Values parameters;
  for (size_t i = 0; i < leaves.size(); ++i) {
    parameters.push_back(trace->Parameter(
        WithoutAxis(leaves[i].tensor.shape(), batch.axes[i]), where));
  }
  const Trace::Scope scope(trace);
  TracedEntry traced{.results = fn(parameters),
                     .printed = trace->TakePrinted()};
  Values given = traced.results;
  AppendTensors(traced.printed, &given);
  trace->Return(given, where);
  return traced;
}

Values MovedTo(int64_t out_axis, absl::Span<const Tensor> results,
               const OpScope& s) {
  Values moved;
  for (const Tensor& result : results) {
    const auto axis = OutAxis(out_axis, result);
    if (!axis.ok()) return Values(results.size(), s.Fail(axis.status()));
    moved.push_back(WithAxisMoved(result, 0, *axis));
  }
  return moved;
}

}  // namespace

Values RunVmap(absl::Span<const VmapLeaf> leaves, size_t arguments,
               const VmapOptions& options,
               absl::FunctionRef<Values(const Values&)> fn,
               SourceLocation where) {
  Values operands;
  for (const VmapLeaf& leaf : leaves) operands.push_back(leaf.tensor);
  const OpScope s("Vmap", where, operands);
  auto batch = s.ok() ? BatchOf(leaves, arguments, options) : Batch();
  if (!s.ok() || !batch.ok()) {
    // fn is called only to learn how many results it gives.
    const Tensor error = s.ok() ? s.Fail(batch.status()) : s.error();
    const UserCode user_code;
    return Values(fn(Values(leaves.size(), error)).size(), error);
  }
  Trace trace("vmap", Captures::kLift);
  TracedEntry traced = TraceOne(leaves, *batch, fn, where, &trace);
  const size_t count = traced.results.size();
  const auto one = trace.FinishRegion();
  if (!one.ok()) return Values(count, s.Keep(one.status()));
  const auto region = ForBatch(**one, *batch);
  if (!region.ok()) return Values(count, s.Fail(region.status()));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!batch->axes[i].has_value()) continue;
    operands[i] = WithAxisMoved(operands[i], *batch->axes[i], 0);
  }
  operands.insert(operands.end(), trace.lifted().begin(), trace.lifted().end());
  const Values all = Inline("Vmap", **region, operands, where);
  const auto given = absl::MakeConstSpan(all);
  ShowBatched(given.subspan(count), std::move(traced.printed));
  return MovedTo(options.out_axis, given.subspan(0, count), s);
}

}  // namespace hawser::sdk
