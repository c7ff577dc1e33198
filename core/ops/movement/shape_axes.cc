// Axes rules of shape.h.
#include <cstdint>

#include "core/ops/movement/shape.h"

namespace hawser {
namespace {

// Axis `from` of operand `operand` and axis `to` of the result are one.
void Parallel(AxisMap& map, const Shape& result, int operand, int from,
              int to) {
  if (map.results[0][to] == kNoFactor) {
    map.results[0][to] = map.AddFactor(AxisKind::kParallel, result.dim(to));
  }
  map.operands[operand][from] = map.results[0][to];
}

}  // namespace

// The counting axis is opaque: a part of it does not start at 0.
AxisMap IotaAxes(const InferContext& context,
                 absl::Span<const Shape> results) {
  const int64_t counts = context.attributes.GetInt("iota_dimension");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < results[0].rank(); ++i) {
    if (i == counts) continue;
    map.results[0][i] =
        map.AddFactor(AxisKind::kParallel, results[0].dim(i));
  }
  return OpaqueRest(std::move(map), context, results);
}

// A stretched axis of size 1 is opaque in the operand (there is nothing to
// split) and a broadcast axis in the result.
AxisMap BroadcastInDimAxes(const InferContext& context,
                           absl::Span<const Shape> results) {
  const Shape& operand = context.operands[0];
  const Shape& result = results[0];
  const auto where = context.attributes.GetInts("broadcast_dimensions");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < operand.rank(); ++i) {
    const int to = static_cast<int>(where[i]);
    if (operand.dim(i) == result.dim(to)) Parallel(map, result, 0, i, to);
  }
  for (int i = 0; i < result.rank(); ++i) {
    if (map.results[0][i] != kNoFactor) continue;
    map.results[0][i] = map.AddFactor(AxisKind::kBroadcast, result.dim(i));
  }
  return OpaqueRest(std::move(map), context, results);
}

// An axis survives when it has the same size and the same number of elements
// before it; axes that are merged or split are opaque.
AxisMap ReshapeAxes(const InferContext& context,
                    absl::Span<const Shape> results) {
  const Shape& from = context.operands[0];
  const Shape& to = results[0];
  AxisMap map = EmptyAxes(context, results);
  int i = 0;
  int k = 0;
  int64_t before_i = 1;
  int64_t before_k = 1;
  while (i < from.rank() && k < to.rank()) {
    if (before_i == before_k && from.dim(i) == to.dim(k)) {
      Parallel(map, to, 0, i, k);
      before_i *= from.dim(i++);
      before_k *= to.dim(k++);
    } else if (before_i * from.dim(i) <= before_k * to.dim(k)) {
      before_i *= from.dim(i++);
    } else {
      before_k *= to.dim(k++);
    }
  }
  return OpaqueRest(std::move(map), context, results);
}

AxisMap TransposeAxes(const InferContext& context,
                      absl::Span<const Shape> results) {
  const auto permutation = context.attributes.GetInts("permutation");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < results[0].rank(); ++i) {
    Parallel(map, results[0], 0, static_cast<int>(permutation[i]), i);
  }
  return map;
}

// The joined axis is opaque: its parts come from different operands.
AxisMap ConcatenateAxes(const InferContext& context,
                        absl::Span<const Shape> results) {
  const int64_t joined = context.attributes.GetInt("dimension");
  AxisMap map = EmptyAxes(context, results);
  for (size_t n = 0; n < context.operands.size(); ++n) {
    for (int i = 0; i < results[0].rank(); ++i) {
      if (i != joined) {
        Parallel(map, results[0], static_cast<int>(n), i, i);
      }
    }
  }
  return OpaqueRest(std::move(map), context, results);
}

// A reversed axis is opaque: its parts would change places.
AxisMap ReverseAxes(const InferContext& context,
                    absl::Span<const Shape> results) {
  const auto reversed = context.attributes.GetInts("dimensions");
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < results[0].rank(); ++i) {
    if (!Contains(reversed, i)) Parallel(map, results[0], 0, i, i);
  }
  return OpaqueRest(std::move(map), context, results);
}

// A padded axis is opaque: only its outer parts would get the edges.
AxisMap PadAxes(const InferContext& context, absl::Span<const Shape> results) {
  AxisMap map = EmptyAxes(context, results);
  for (int i = 0; i < results[0].rank(); ++i) {
    bool untouched = true;
    for (const AttributeSpec& spec : context.op.attributes) {
      untouched = untouched && context.attributes.GetInts(spec.name)[i] == 0;
    }
    if (untouched) Parallel(map, results[0], 0, i, i);
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
