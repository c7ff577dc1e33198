// Constants, and ops that move elements.

#include <numeric>
#include <utility>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::stablehlo {
namespace {

// A splat of more elements than this is one element, repeated when it runs.
constexpr int64_t kMostRepeated = 64;

Literal Repeated(const Literal& scalar, const Shape& shape) {
  Literal out = Literal::Uninitialized(shape);
  const absl::Span<char> to = out.mutable_bytes();
  const absl::Span<const char> from = scalar.bytes();
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i % from.size()];
  return out;
}

absl::StatusOr<Values> LowerConstant(OpContext& context) {
  const Attribute* value = FindAttribute(context.op, "value");
  if (value == nullptr || value->kind != Attribute::kElements ||
      !value->elements->value.valid() || context.results.size() != 1) {
    return InvalidArgument("has no value");
  }
  const Elements& elements = *value->elements;
  const Shape& shape = context.results[0];
  if (!elements.splat) {
    if (elements.value.shape().byte_size() > kLargestConstant &&
        context.program.entry == &context.builder()) {
      return Values{
          context.program.LargeConstant(elements, &context.builder())};
    }
    return context.Add(kConstant, {}, {{"value", elements.value}});
  }
  if (elements.value.shape().dtype() != shape.dtype()) {
    return InvalidArgument("the value is of another type than the result");
  }
  if (shape.num_elements() <= kMostRepeated) {
    return context.Add(kConstant, {},
                       {{"value", Repeated(elements.value, shape)}});
  }
  const ValueId one =
      context.AddOne(kConstant, {}, {{"value", elements.value}});
  return context.Add(
      kBroadcastInDim, {one},
      {{"broadcast_dimensions", Dims()}, {"dims", shape.dims()}});
}

// Strides may be left out: they are 1.
absl::StatusOr<Values> LowerSlice(OpContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes, context.AttributesOf(kSlice));
  const size_t axes = attributes.GetInts("start_indices").size();
  if (attributes.GetInts("strides").empty()) {
    attributes.Set("strides", Dims(axes, 1));
  }
  return context.Add(kSlice, context.operands, std::move(attributes));
}

// New axes in front.
absl::StatusOr<Values> LowerBroadcast(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  HAWSER_ASSIGN_OR_RETURN(const Dims sizes, context.Ints("broadcast_sizes"));
  Dims axes(context.operand_shape(0).rank(), 0);
  std::iota(axes.begin(), axes.end(), static_cast<int64_t>(sizes.size()));
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes,
                          context.AttributesOf(kBroadcastInDim));
  attributes.Set("broadcast_dimensions", std::move(axes));
  return context.Add(kBroadcastInDim, context.operands, std::move(attributes));
}

// Sizes are static here.
absl::StatusOr<Values> LowerDimensionSize(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  HAWSER_ASSIGN_OR_RETURN(const int64_t axis, context.Int("dimension", -1));
  const Shape shape = context.operand_shape(0);
  if (axis < 0 || axis >= shape.rank()) {
    return InvalidArgument(axis, " is no axis of ", shape.ToString());
  }
  const auto size = static_cast<int32_t>(shape.dim(axis));
  if (size != shape.dim(axis)) {
    return InvalidArgument("the size ", shape.dim(axis), " does not fit i32");
  }
  return context.Add(kConstant, {}, {{"value", Literal::Scalar(size)}});
}

// The operands as they are.
absl::StatusOr<Values> LowerIdentity(OpContext& context) {
  return context.operands;
}

constexpr Row kMovementRows[] = {
    {"stablehlo.constant", LowerConstant},
    {"stablehlo.iota", LowerByName, &kIota},
    {"stablehlo.broadcast_in_dim", LowerByName, &kBroadcastInDim},
    {"stablehlo.broadcast", LowerBroadcast},
    {"stablehlo.reshape", LowerByName, &kReshape},
    {"stablehlo.transpose", LowerByName, &kTranspose},
    {"stablehlo.concatenate", LowerByName, &kConcatenate},
    {"stablehlo.reverse", LowerByName, &kReverse},
    {"stablehlo.pad", LowerByName, &kPad},
    {"stablehlo.slice", LowerSlice},
    {"stablehlo.dynamic_slice", LowerByName, &kDynamicSlice},
    {"stablehlo.dynamic_update_slice", LowerByName, &kDynamicUpdateSlice},
    {"stablehlo.get_dimension_size", LowerDimensionSize},
    {"stablehlo.optimization_barrier", LowerIdentity},
    {"sdy.sharding_constraint", LowerIdentity},
    // What artifacts have around ops of other dialects.
    {"builtin.unrealized_conversion_cast", LowerIdentity},
};

}  // namespace

absl::Span<const Row> MovementRows() { return kMovementRows; }

}  // namespace hawser::stablehlo
