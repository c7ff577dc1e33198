// Gather and scatter. Batch axes of operand and indices are turned into
// components of the index vectors that count along them.

#include <algorithm>
#include <utility>
#include <vector>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"

namespace hawser::stablehlo {
namespace {

// The indices with a component after the others for each of their batch axes.
absl::StatusOr<ValueId> JoinBatches(OpContext& context, ValueId indices,
                                    const Dims& batch_axes,
                                    int64_t vector_axis) {
  const Shape shape = context.shape(indices);
  const auto rank = static_cast<int64_t>(shape.rank());
  if (vector_axis < 0 || vector_axis > rank) {
    return InvalidArgument("index_vector_dim ", vector_axis, " is no axis of ",
                           shape.ToString());
  }
  Dims one = shape.dims();
  if (vector_axis == rank) {
    one.push_back(1);
    indices = context.AddOne(kReshape, {indices}, {{"dims", one}});
  } else {
    one[static_cast<size_t>(vector_axis)] = 1;
  }
  Values parts = {indices};
  for (const int64_t axis : batch_axes) {
    if (axis < 0 || axis >= rank || axis == vector_axis) {
      return InvalidArgument("batch axis ", axis, " is none of ",
                             shape.ToString());
    }
    parts.push_back(context.AddOne(
        kIota, {},
        {{"dims", one}, {"dtype", shape.dtype()}, {"iota_dimension", axis}}));
  }
  return context.AddOne(kConcatenate, parts, {{"dimension", vector_axis}});
}

// The names of what gather and scatter have alike.
struct BatchNames {
  absl::string_view operand_axes, index_axes;  // of StableHLO
  absl::string_view left_out, components;      // both theirs and ours
};

absl::Status AddBatches(OpContext& context, const BatchNames& names,
                        size_t indices, Attributes* attributes) {
  HAWSER_ASSIGN_OR_RETURN(const Dims operand_axes,
                          context.Ints(names.operand_axes));
  HAWSER_ASSIGN_OR_RETURN(const Dims index_axes,
                          context.Ints(names.index_axes));
  if (operand_axes.size() != index_axes.size()) {
    return InvalidArgument("the operand has ", operand_axes.size(),
                           " batch axes, the indices ", index_axes.size());
  }
  if (operand_axes.empty()) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(
      context.operands[indices],
      JoinBatches(context, context.operands[indices], index_axes,
                  attributes->GetInt("index_vector_dim")));
  const auto joined = [&](absl::string_view name) {
    const auto ints = attributes->GetInts(name);
    Dims all(ints.begin(), ints.end());
    all.insert(all.end(), operand_axes.begin(), operand_axes.end());
    return all;
  };
  Dims left_out = joined(names.left_out);
  std::sort(left_out.begin(), left_out.end());
  attributes->Set(names.left_out, std::move(left_out));
  attributes->Set(names.components, joined(names.components));
  return absl::OkStatus();
}

// For each component of an index vector: the size of the axis that it moves
// along, and of the window there.
struct Extent {
  int64_t size;
  int64_t window;
};

// Empty where the attributes fit nothing, which the op itself complains of.
std::vector<Extent> ExtentsOf(const Shape& input, const Shape& updates,
                              const Attributes& attributes) {
  const auto inserted = attributes.GetInts("inserted_window_dims");
  const auto window = attributes.GetInts("update_window_dims");
  Dims windows;  // by axis of the input
  size_t next = 0;
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (std::count(inserted.begin(), inserted.end(), axis) != 0) {
      windows.push_back(1);
      continue;
    }
    if (next == window.size()) return {};
    const int64_t at = window[next++];
    if (at < 0 || at >= updates.rank()) return {};
    windows.push_back(updates.dim(static_cast<int>(at)));
  }
  std::vector<Extent> extents;
  for (const int64_t axis :
       attributes.GetInts("scatter_dims_to_operand_dims")) {
    if (axis < 0 || axis >= input.rank()) return {};
    extents.push_back({input.dim(static_cast<int>(axis)),
                       windows[static_cast<size_t>(axis)]});
  }
  return extents;
}

// XLA drops a window that lies partly outside, hawser's op what of it does: the
// vectors of such windows are moved to where all is outside.
void DropPartialWindows(OpContext& context, size_t inputs,
                        const Attributes& attributes) {
  const std::vector<Extent> extents = ExtentsOf(
      context.operand_shape(0), context.operand_shape(inputs + 1), attributes);
  const Shape shape = context.operand_shape(inputs);
  const int64_t axis = attributes.GetInt("index_vector_dim");
  const bool has_axis = axis >= 0 && axis < shape.rank();
  const auto count = static_cast<int64_t>(extents.size());
  const bool partial =
      std::any_of(extents.begin(), extents.end(),
                  [](const Extent& e) { return e.window > 1; });
  if (!partial || !IsInteger(shape.dtype()) ||
      count != (has_axis ? shape.dim(static_cast<int>(axis)) : 1)) {
    return;
  }
  ExpressionScope scope{context.builder(), context.program.monoids()};
  std::vector<int64_t> last, outside;
  for (const Extent& e : extents) {
    last.push_back(e.size - e.window);
    outside.push_back(e.size);
  }
  const Dims components = has_axis ? Dims{axis} : Dims{};
  const auto along = [&](const std::vector<int64_t>& values) {
    Literal literal = Literal::Uninitialized(Shape::Of(DType::kS64, {count}));
    std::copy(values.begin(), values.end(),
              literal.mutable_data<int64_t>().begin());
    const Expression all = ConstantOf(&scope, literal);
    return Spread(has_axis ? all : Reshaped(all, {}), shape.dims(),
                  OtherAxes(shape.rank(), components));
  };
  const Expression starts =
      ConvertTo(Expression(&scope, context.operands[inputs]), DType::kS64);
  Expression inside =
      Apply(kAnd, {Compare(starts, CompareDirection::kGe, Like(starts, 0)),
                   Compare(starts, CompareDirection::kLe, along(last))});
  if (has_axis) {
    inside = Spread(Folded(kAnd, inside, Literal::Scalar(true), components),
                    shape.dims(), components);
  }
  context.operands[inputs] = Choose(inside, starts, along(outside)).value();
}

absl::StatusOr<Values> LowerGather(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes, context.AttributesOf(kGather));
  constexpr BatchNames kNames{"operand_batching_dims",
                              "start_indices_batching_dims",
                              "collapsed_slice_dims", "start_index_map"};
  HAWSER_RETURN_IF_ERROR(AddBatches(context, kNames, 1, &attributes));
  return context.Add(kGather, context.operands, std::move(attributes));
}

// x - update is x + -update, a sum, which is made in wider floats.
void AddWhatIsSubtracted(OpContext& context, int* called) {
  Module* const module = context.builder().module();
  const Computation& body = module->computation(*called);
  if (body.results().size() != 1) return;  // which the op refuses
  const ValueId result = body.results()[0];
  const Instruction& last = body.instructions()[body.producer(result)];
  const DType dtype = body.shape(result).dtype();
  if (last.op != &kSubtract || last.operands[0] != 0 || last.operands[1] != 1 ||
      !IsContinuous(dtype)) {
    return;
  }
  context.operands[2] = context.builder().Add(kNegate, {context.operands[2]});
  *called = context.program.monoids().Find(kAdd, dtype, module);
}

absl::StatusOr<Values> LowerScatter(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(3, 3 * kMaxRank * kMaxRank));
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(1));
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes,
                          context.AttributesOf(kScatter));
  const size_t inputs = context.operands.size() / 2;
  for (size_t i = 0; i < inputs; ++i) {
    Promote(context, i, i);
    Promote(context, inputs + 1 + i, inputs + i);  // after the indices
  }
  constexpr BatchNames kNames{
      "input_batching_dims", "scatter_indices_batching_dims",
      "inserted_window_dims", "scatter_dims_to_operand_dims"};
  HAWSER_RETURN_IF_ERROR(AddBatches(context, kNames, inputs, &attributes));
  DropPartialWindows(context, inputs, attributes);
  HAWSER_ASSIGN_OR_RETURN(std::vector<int> called, context.ClosedRegions());
  if (inputs == 1) AddWhatIsSubtracted(context, &called[0]);
  return context.Add(kScatter, context.operands, std::move(attributes), called);
}

constexpr Row kIndexedRows[] = {
    {"stablehlo.gather", LowerGather},
    {"stablehlo.scatter", LowerScatter},
};

}  // namespace

absl::Span<const Row> IndexedRows() { return kIndexedRows; }

}  // namespace hawser::stablehlo
