// Simplifications of moved elements.
#include <algorithm>
#include <cstdint>

#include "core/ir/leaves.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/rules.h"
#include "core/passes/patterns/simplify.h"

namespace hawser {
namespace {

bool IsCounting(absl::Span<const int64_t> list) {  // 0, 1, 2, ...
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace

Simplified OperandIfSameShape(const Site& site) {
  return site.shape(0) == site.result ? site.operands[0] : kNoValue;
}

Simplified OnlyOperand(const Site& site) {
  return site.operands.size() == 1 ? site.operands[0] : kNoValue;
}

Simplified MergeTransposes(const Site& site) {
  const auto outer = site.ints("permutation");
  if (IsCounting(outer)) return site.operands[0];
  const Instruction& before = site.producer(0);
  if (before.op != &kTranspose) return kNoValue;
  const auto inner = before.attributes.GetInts("permutation");
  Dims merged;
  for (int64_t axis : outer) merged.push_back(inner[axis]);
  const ValueId source = before.operands[0];
  if (IsCounting(merged)) return source;
  return site.rewriter.Append(kTranspose, {source}, {{"permutation", merged}});
}

Simplified TransposeOfBroadcast(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kBroadcastInDim) return kNoValue;
  const Dims places = InversePermutation(site.ints("permutation"));
  Dims axes;
  for (int64_t axis : before.attributes.GetInts("broadcast_dimensions")) {
    axes.push_back(places[axis]);
  }
  return site.rewriter.Append(
      kBroadcastInDim, {before.operands[0]},
      {{"dims", site.result.dims()}, {"broadcast_dimensions", axes}});
}

Simplified MergeReshapes(const Site& site) {
  if (site.shape(0) == site.result) return site.operands[0];
  const Instruction& before = site.producer(0);
  if (before.op != &kReshape) return kNoValue;
  const ValueId source = before.operands[0];
  if (site.rewriter.shape(source) == site.result) return source;
  return site.rewriter.Append(kReshape, {source}, site.instruction.attributes);
}

Simplified ReshapeOfScalar(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kBroadcastInDim) return kNoValue;
  const ValueId source = before.operands[0];
  if (!site.rewriter.shape(source).is_scalar()) return kNoValue;
  if (site.result.is_scalar()) return source;
  return site.rewriter.Append(
      kBroadcastInDim, {source},
      {{"dims", site.result.dims()}, {"broadcast_dimensions", Dims{}}});
}

Simplified MergeBroadcasts(const Site& site) {
  const auto outer = site.ints("broadcast_dimensions");
  if (site.shape(0) == site.result && IsCounting(outer)) {
    return site.operands[0];
  }
  const Instruction& before = site.producer(0);
  if (before.op != &kBroadcastInDim) return kNoValue;
  Dims merged;
  for (int64_t axis : before.attributes.GetInts("broadcast_dimensions")) {
    merged.push_back(outer[axis]);
  }
  const ValueId source = before.operands[0];
  return site.rewriter.Append(
      kBroadcastInDim, {source},
      {{"dims", site.result.dims()}, {"broadcast_dimensions", merged}});
}

// Axes of size 0 and 1 read the same both ways.
Simplified ReverseOfNothing(const Site& site) {
  for (int64_t axis : site.ints("dimensions")) {
    if (site.result.dim(static_cast<int>(axis)) > 1) return kNoValue;
  }
  return site.operands[0];
}

// An axis that both reverse is as it was.
Simplified MergeReverses(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kReverse) return kNoValue;
  const auto outer = site.ints("dimensions");
  const auto inner = before.attributes.GetInts("dimensions");
  Dims axes;
  for (int64_t axis = 0; axis < site.result.rank(); ++axis) {
    if (Contains(outer, axis) != Contains(inner, axis)) axes.push_back(axis);
  }
  const ValueId source = before.operands[0];
  if (axes.empty()) return source;
  return site.rewriter.Append(kReverse, {source}, {{"dimensions", axes}});
}

Simplified MergeSlices(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kSlice) return kNoValue;
  const auto inner = before.attributes.GetInts("start_indices");
  const auto inner_strides = before.attributes.GetInts("strides");
  const auto outer = site.ints("start_indices"), steps = site.ints("strides");
  Dims starts, limits, strides;
  for (int axis = 0; axis < site.result.rank(); ++axis) {
    const int64_t size = site.result.dim(axis);
    const int64_t stride = inner_strides[axis] * steps[axis];
    // An empty slice starts where the first one does: that is inside.
    starts.push_back(size == 0
                         ? inner[axis]
                         : inner[axis] + outer[axis] * inner_strides[axis]);
    limits.push_back(size == 0 ? inner[axis]
                               : starts.back() + (size - 1) * stride + 1);
    strides.push_back(size <= 1 ? 1 : stride);
  }
  return site.rewriter.Append(kSlice, {before.operands[0]},
                              {{"start_indices", starts},
                               {"limit_indices", limits},
                               {"strides", strides}});
}

Simplified SliceAtConstants(const Site& site) {
  Dims starts, limits;
  for (int axis = 0; axis < site.result.rank(); ++axis) {
    const Instruction& start = site.producer(1 + axis);
    if (start.op != &kConstant) return kNoValue;
    const auto at = IntegerOf(start.attributes.GetLiteral("value"));
    if (!at.has_value()) return kNoValue;
    const int64_t size = site.result.dim(axis);
    const int64_t last = site.shape(0).dim(axis) - size;
    starts.push_back(std::clamp<int64_t>(*at, 0, last));
    limits.push_back(starts.back() + size);
  }
  return site.rewriter.Append(kSlice, {site.operands[0]},
                              {{"start_indices", starts},
                               {"limit_indices", limits},
                               {"strides", Dims(starts.size(), 1)}});
}

// If there is no padding, the sizes are the same; but so they may be if edges
// cancel out.
Simplified PadOfNothing(const Site& site) {
  for (const auto& [name, value] : site.instruction.attributes) {
    for (int64_t n : site.ints(name)) {
      if (n != 0) return kNoValue;
    }
  }
  return site.operands[0];
}

// An update as large as the operand is clamped to start at 0.
Simplified UpdateOfAll(const Site& site) {
  return site.shape(1) == site.result ? site.operands[1] : kNoValue;
}

}  // namespace hawser
