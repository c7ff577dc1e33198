// Batch rules of what contracts axes.
#include <algorithm>

#include "core/base/status.h"
#include "core/ops/batch/batch.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"

namespace hawser {
namespace {

using Results = std::vector<Expression>;
using Edit = AttributeEdit;

constexpr Edit kBothSides[] = {{"lhs_batching_dimensions", Edit::kShiftAnd0},
                               {"lhs_contracting_dimensions", Edit::kShift},
                               {"rhs_batching_dimensions", Edit::kShiftAnd0},
                               {"rhs_contracting_dimensions", Edit::kShift}};

// Axis `from` becomes axis 0.
Expression ToFront(const Expression& x, int64_t from) {
  Dims order = {from};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != from) order.push_back(i);
  }
  return Transposed(x, order);
}

// Inputs [size, kept..., all elements of the axes that are reduced]; in the
// order in which these are folded.
Expression ElementsLast(const Expression& x, const Dims& dims,
                        const Dims& reduced) {
  Dims order = {0}, sizes = {x.dims()[0]};
  for (const int64_t axis : OtherAxes(static_cast<int>(dims.size()), reduced)) {
    order.push_back(axis + 1);
    sizes.push_back(dims[axis]);
  }
  int64_t elements = 1;
  const Dims kept = order;
  for (int i = 1; i < x.rank(); ++i) {
    if (std::find(kept.begin(), kept.end(), i) != kept.end()) continue;
    order.push_back(i);
    elements *= dims[i - 1];
  }
  sizes.push_back(elements);
  return Reshaped(Transposed(x, order), sizes);
}

// From initial values that differ, which a reduce cannot: they are the first
// element of what is folded, and the last of the running values is wanted.
Results ReduceFromEach(const BatchContext& c, const Dims& reduced) {
  const int n = c.instruction.num_results;
  Results inputs;
  for (int k = 0; k < n; ++k) {
    const Expression x = ElementsLast(c.Spread(k), c.shape(k).dims(), reduced);
    Dims first = x.dims();
    first.back() = 1;
    const int64_t last = x.rank() - 1;
    inputs.push_back(Apply(kConcatenate, {AlongRest(c.Spread(n + k), first), x},
                           {{"dimension", last}}));
  }
  const Dims sizes = inputs[0].dims();
  const int64_t last = static_cast<int64_t>(sizes.size()) - 1;
  const Expression running =
      Apply(kScan, inputs, {{"dimension", last}}, c.instruction.called);
  const Dims kept(sizes.begin(), sizes.end() - 1);
  Results results;
  for (int k = 0; k < n; ++k) {
    const Expression end =
        SliceAlong(ResultOf(running, k), last, sizes[last] - 1, sizes[last]);
    results.push_back(Reshaped(end, kept));
  }
  return results;
}

}  // namespace

// One side's entries are a free axis of it, which the result has after the
// batch axes; those of both are a batch axis.
absl::StatusOr<Results> DotGeneralBatch(BatchContext& c) {
  static constexpr Edit kLeft[] = {
      {"lhs_batching_dimensions", Edit::kShift},
      {"lhs_contracting_dimensions", Edit::kShift}};
  static constexpr Edit kRight[] = {
      {"rhs_batching_dimensions", Edit::kShift},
      {"rhs_contracting_dimensions", Edit::kShift}};
  if (c.batched[0] && c.batched[1]) {
    return Edited(c, kBothSides, c.operands, c.batched);
  }
  Attributes attributes = c.instruction.attributes;
  for (const Edit& edit : c.batched[0] ? kLeft : kRight) {
    Dims axes = c.ints(edit.name);
    for (int64_t& axis : axes) ++axis;
    attributes.Set(edit.name, axes);
  }
  const auto batch =
      static_cast<int64_t>(c.ints("lhs_batching_dimensions").size());
  const auto contracted =
      static_cast<int64_t>(c.ints("lhs_contracting_dimensions").size());
  const int64_t at = c.batched[0] ? batch : c.shape(0).rank() - contracted;
  return Results{ToFront(Apply(kDotGeneral, c.operands, attributes), at)};
}

absl::StatusOr<Results> ReduceBatch(BatchContext& c) {
  const int n = c.instruction.num_results;
  Results operands;
  BatchFlags axis;
  for (int i = 0; i < c.count(); ++i) {
    if (i >= n && c.batched[i]) return ReduceFromEach(c, c.ints("dimensions"));
    axis.push_back(i < n);
    operands.push_back(i < n ? c.Spread(i) : c.operands[i]);
  }
  return Edited(c, c.instruction.op->batch.edits, operands, axis);
}

}  // namespace hawser
