// Batch rules of what moves elements to and from places.
#include <limits>

#include "core/base/status.h"
#include "core/ops/batch/batch.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

using Results = std::vector<Expression>;
using Edit = AttributeEdit;

bool AnyFrom(const BatchFlags& flags, int first) {
  for (size_t i = first; i < flags.size(); ++i) {
    if (flags[i]) return true;
  }
  return false;
}

Dims From1To(int rank) {
  Dims axes;
  for (int i = 1; i <= rank; ++i) axes.push_back(i);
  return axes;
}

// The same integers; of u64 those that there are.
Expression AsS64(const Expression& x) {
  if (x.dtype() != DType::kU64) return ConvertTo(x, DType::kS64);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Expression most =
      ConstantOf(x.scope(), Literal::Scalar(static_cast<uint64_t>(kMost)));
  const Expression none = Filled(x.scope(), Shape::Scalar(DType::kU64), 0);
  return ConvertTo(Apply(kClamp, {none, x, most}), DType::kS64);
}

// 0, 1, ... of the batch, repeated along the rest of `dims`.
Expression Numbers(const BatchContext& c, absl::Span<const int64_t> dims) {
  const Expression numbers(&c.scope,
                           c.scope.builder.Add(kIota, {},
                                               {{"dims", Dims{c.size}},
                                                {"dtype", DType::kS64},
                                                {"iota_dimension", int64_t{0}}},
                                               {}, SourceLocation{}));
  return AlongRest(numbers, dims);
}

Expression Joined(absl::Span<const Expression> parts, int64_t axis) {
  return Apply(kConcatenate, parts, {{"dimension", axis}});
}

// Index vectors s64[size, n] of the scalars from operand `first` on, after the
// number of the entry if `numbered`. Not empty: highest start of each, to which
// it is clamped.
Expression StartVectors(const BatchContext& c, int first, bool numbered,
                        absl::Span<const int64_t> highest) {
  const Dims one = {c.size, 1};
  std::vector<Expression> parts;
  if (numbered) parts.push_back(Numbers(c, one));
  for (int i = first; i < c.count(); ++i) {
    Expression start = AsS64(c.Spread(i));
    if (!highest.empty()) {
      const int64_t most = highest[i - first];
      start =
          Apply(kClamp, {ConstantOf(&c.scope, Literal::Scalar(int64_t{0})),
                         start, ConstantOf(&c.scope, Literal::Scalar(most))});
    }
    parts.push_back(Reshaped(start, one));
  }
  return Joined(parts, 1);
}

// Batched index vectors after the numbers of their entries; their axis is
// `vector_axis` + 1 of them.
Expression NumberedVectors(const BatchContext& c, int operand,
                           int64_t vector_axis) {
  Expression vectors = AsS64(c.operands[operand]);
  Dims dims = vectors.dims();
  if (vector_axis == c.shape(operand).rank()) {
    dims.push_back(1);
    vectors = Reshaped(vectors, dims);
  }
  dims[vector_axis + 1] = 1;
  return Joined({Numbers(c, dims), vectors}, vector_axis + 1);
}

Dims Shifted(Dims axes) {
  for (int64_t& axis : axes) ++axis;
  return axes;
}
Dims ShiftedAnd0(const Dims& axes) {
  Dims all = Shifted(axes);
  all.insert(all.begin(), 0);
  return all;
}

// There are no entries, so no element that an index could name.
Results OfNone(const BatchContext& c) {
  Results results;
  for (int k = 0; k < c.instruction.num_results; ++k) {
    const Shape& one = c.from.shape(c.instruction.first_result + k);
    results.push_back(
        Filled(&c.scope, Shape::Of(one.dtype(), c.WithSize(one.dims())), 0));
  }
  return results;
}

// The operand's own starts, after 0 for the new axis.
void AppendStarts(const BatchContext& c, int first, Results* operands,
                  BatchFlags* axis) {
  const DType dtype = first < c.count() ? c.shape(first).dtype() : DType::kS32;
  operands->push_back(Filled(&c.scope, Shape::Scalar(dtype), 0));
  for (int i = first; i < c.count(); ++i) operands->push_back(c.operands[i]);
  axis->resize(operands->size(), false);
}

}  // namespace

// Padding that differs: elements of the operand in a frame of anything, then
// the frame.
absl::StatusOr<Results> PadBatch(BatchContext& c) {
  if (!c.batched[1]) {
    return Edited(c, c.instruction.op->batch.edits,
                  {c.operands[0], c.operands[1]}, {true, false});
  }
  ExpressionScope* scope = &c.scope;
  const Shape& operand = c.shape(0);
  const Attributes& attributes = c.instruction.attributes;
  const Expression inside =
      Apply(kPad,
            {Filled(scope, operand.WithDType(DType::kBool), 1),
             Filled(scope, Shape::Scalar(DType::kBool), 0)},
            attributes);
  const Expression anything = Filled(scope, Shape::Scalar(operand.dtype()), 0);
  Expression framed;
  if (c.batched[0]) {
    HAWSER_ASSIGN_OR_RETURN(const Results padded,
                            Edited(c, c.instruction.op->batch.edits,
                                   {c.operands[0], anything}, {true, false}));
    framed = padded[0];
  } else {
    framed =
        Repeated(Apply(kPad, {c.operands[0], anything}, attributes), c.size);
  }
  return Results{Choose(Repeated(inside, c.size), framed,
                        AlongRest(c.operands[1], framed.dims()))};
}

// If starts differ, one slice per entry is gathered.
absl::StatusOr<Results> DynamicSliceBatch(BatchContext& c) {
  const int rank = c.shape(0).rank();
  if (!AnyFrom(c.batched, 1)) {
    Results operands = {c.operands[0]};
    BatchFlags axis = {true};
    AppendStarts(c, 1, &operands, &axis);
    return Edited(c, c.instruction.op->batch.edits, operands, axis);
  }
  if (c.size == 0) return OfNone(c);
  Dims sizes = c.ints("slice_sizes"), collapsed, map;
  for (int i = 0; i < rank; ++i) map.push_back(i);
  if (c.batched[0]) {
    sizes.insert(sizes.begin(), 1);
    collapsed.push_back(0);
    map.push_back(rank);
  }
  const Expression starts = StartVectors(c, 1, c.batched[0], {});
  return Results{Apply(kGather, {c.operands[0], starts},
                       {{"collapsed_slice_dims", collapsed},
                        {"index_vector_dim", int64_t{1}},
                        {"offset_dims", From1To(rank)},
                        {"slice_sizes", sizes},
                        {"start_index_map", map}})};
}

// If starts differ, one window per entry is scattered. A scatter drops what
// falls outside, so the starts are moved first.
absl::StatusOr<Results> DynamicUpdateSliceBatch(BatchContext& c) {
  const int rank = c.shape(0).rank();
  const Expression onto = c.Spread(0), update = c.Spread(1);
  if (!AnyFrom(c.batched, 2)) {
    Results operands = {onto, update};
    BatchFlags axis = {true, true};
    AppendStarts(c, 2, &operands, &axis);
    return Edited(c, c.instruction.op->batch.edits, operands, axis);
  }
  if (c.size == 0) return OfNone(c);
  Dims highest, map = {0};
  for (int i = 0; i < rank; ++i) {
    highest.push_back(c.shape(0).dim(i) - c.shape(1).dim(i));
    map.push_back(i + 1);
  }
  const int second =
      c.scope.monoids.FindSecond(onto.dtype(), c.scope.builder.module());
  return Results{Apply(kScatter,
                       {onto, StartVectors(c, 2, true, highest), update},
                       {{"index_vector_dim", int64_t{1}},
                        {"inserted_window_dims", Dims{0}},
                        {"scatter_dims_to_operand_dims", map},
                        {"update_window_dims", From1To(rank)}},
                       {second})};
}

// Entries of the operand: an axis that every slice takes whole. Entries of the
// indices: more index vectors. If both have entries, the entry is a component
// of the index vectors.
absl::StatusOr<Results> GatherBatch(BatchContext& c) {
  static constexpr Edit kOfOperand[] = {{"collapsed_slice_dims", Edit::kShift},
                                        {"offset_dims", Edit::kShiftAnd0},
                                        {"slice_sizes", Edit::kFrontSize},
                                        {"start_index_map", Edit::kShift}};
  static constexpr Edit kOfIndices[] = {{"index_vector_dim", Edit::kShift},
                                        {"offset_dims", Edit::kShift}};
  if (!c.batched[1]) return Edited(c, kOfOperand, c.operands, c.batched);
  if (!c.batched[0]) return Edited(c, kOfIndices, c.operands, c.batched);
  if (c.size == 0) return OfNone(c);
  const int64_t vector_axis = c.integer("index_vector_dim");
  Dims sizes = c.ints("slice_sizes");
  sizes.insert(sizes.begin(), 1);
  return Results{Apply(
      kGather, {c.operands[0], NumberedVectors(c, 1, vector_axis)},
      {{"collapsed_slice_dims", ShiftedAnd0(c.ints("collapsed_slice_dims"))},
       {"index_vector_dim", vector_axis + 1},
       {"offset_dims", Shifted(c.ints("offset_dims"))},
       {"slice_sizes", sizes},
       {"start_index_map", ShiftedAnd0(c.ints("start_index_map"))}})};
}

// It does what gather does. The updates' order is that of each entry's own.
absl::StatusOr<Results> ScatterBatch(BatchContext& c) {
  static constexpr Edit kOfWindows[] = {
      {"inserted_window_dims", Edit::kShift},
      {"scatter_dims_to_operand_dims", Edit::kShift},
      {"update_window_dims", Edit::kShiftAnd0}};
  const int n = c.instruction.num_results;
  Results operands;
  for (int i = 0; i < c.count(); ++i) {
    operands.push_back(i == n ? c.operands[i] : c.Spread(i));
  }
  if (!c.batched[n]) {
    BatchFlags axis(c.count(), true);
    axis[n] = false;
    return Edited(c, kOfWindows, operands, axis);
  }
  if (c.size == 0) return OfNone(c);
  const int64_t vector_axis = c.integer("index_vector_dim");
  operands[n] = NumberedVectors(c, n, vector_axis);
  const Expression first = Apply(
      kScatter, operands,
      {{"index_vector_dim", vector_axis + 1},
       {"inserted_window_dims", ShiftedAnd0(c.ints("inserted_window_dims"))},
       {"scatter_dims_to_operand_dims",
        ShiftedAnd0(c.ints("scatter_dims_to_operand_dims"))},
       {"update_window_dims", Shifted(c.ints("update_window_dims"))}},
      c.instruction.called);
  Results results;
  for (int k = 0; k < n; ++k) results.push_back(ResultOf(first, k));
  return results;
}

}  // namespace hawser
