// Sorts, and what is found by them.

#include <vector>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"

namespace hawser::stablehlo {
namespace {

// Along the last axis, unless it says another one.
absl::StatusOr<Values> LowerSort(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, context.operands.size()));
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(1));
  const int rank = context.operand_shape(0).rank();
  HAWSER_ASSIGN_OR_RETURN(int64_t dimension, context.Int("dimension", -1));
  if (dimension < 0) dimension += rank;
  HAWSER_ASSIGN_OR_RETURN(const std::vector<int> called,
                          context.ClosedRegions());
  return context.Add(kSort, context.operands,
                     {{"dimension", dimension}, {"is_stable", true}}, called);
}

// Adds a comparison of numbers with a position each: true if the left one is
// the larger, in the total order of floats.
absl::StatusOr<int> Larger(OpContext& context, DType dtype) {
  ComputationBuilder builder(context.builder().module(), "larger");
  ExpressionScope scope{builder, context.program.monoids()};
  const auto parameter = [&](DType of) {
    return Expression(&scope, builder.Parameter(Shape::Scalar(of)));
  };
  Expression left = parameter(dtype), right = parameter(dtype);
  parameter(DType::kS32);
  parameter(DType::kS32);
  if (IsFloat(dtype)) {
    left = TotalOrder(left);
    right = TotalOrder(right);
  }
  return builder.Finish({Compare(left, CompareDirection::kGt, right).value()});
}

// Cuts each of the values to `limits`.
Values First(OpContext& context, const Values& values, const Dims& limits) {
  const Dims starts(limits.size(), 0), strides(limits.size(), 1);
  Values first;
  for (const ValueId value : values) {
    first.push_back(context.AddOne(kSlice, {value},
                                   {{"start_indices", starts},
                                    {"limit_indices", limits},
                                    {"strides", strides}}));
  }
  return first;
}

// The k largest of the last axis, and where they are.
absl::StatusOr<Values> LowerTopK(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  const Shape shape = context.operand_shape(0);
  HAWSER_ASSIGN_OR_RETURN(const int64_t k, context.Int("k", 0));
  const int64_t axis = shape.rank() - 1;
  if (axis < 0 || k < 0 || k > shape.dim(static_cast<int>(axis))) {
    return InvalidArgument("the ", k, " largest of ", shape.ToString());
  }
  if (IsComplex(shape.dtype())) {
    return InvalidArgument("complex numbers have no order");
  }
  const ValueId places = context.AddOne(kIota, {},
                                        {{"dims", shape.dims()},
                                         {"dtype", DType::kS32},
                                         {"iota_dimension", axis}});
  HAWSER_ASSIGN_OR_RETURN(const int larger, Larger(context, shape.dtype()));
  const Values sorted =
      context.Add(kSort, {context.operands[0], places},
                  {{"dimension", axis}, {"is_stable", true}}, {larger});
  Dims limits = shape.dims();
  limits[axis] = k;
  return First(context, sorted, limits);
}

// A function orders arrays along an axis, and the first ones are wanted. The
// caller allows that a share of them is missing; this gives all. The operands
// behind the arrays are values that come last in that order, and are not
// needed.
absl::StatusOr<Values> LowerApproxTopK(OpContext& context) {
  const size_t count = context.results.size();
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2 * count, 2 * count));
  HAWSER_ASSIGN_OR_RETURN(const int64_t axis, context.Int("reduction_dim", -1));
  const Attribute* called = FindAttribute(context.op, "called_computations");
  const Op* order =
      called == nullptr || called->items.size() != 1
          ? nullptr
          : context.program.functions().Find(called->items[0]->text);
  if (count == 0 || order == nullptr) {
    return InvalidArgument("has no arrays, or no function that orders them");
  }
  const Shape shape = context.operand_shape(0);
  const Shape& first = context.results[0];
  if (axis < 0 || axis >= shape.rank() || first.rank() != shape.rank() ||
      first.dims()[axis] > shape.dims()[axis]) {
    return InvalidArgument(first.ToString(), " of ", shape.ToString(),
                           " along axis ", axis);
  }
  HAWSER_ASSIGN_OR_RETURN(
      const int computation,
      AddComputation(context.program, context.body, order->regions[0], {},
                     NameOf(*order)));
  const Values sorted =
      context.Add(kSort, absl::MakeConstSpan(context.operands).first(count),
                  {{"dimension", axis}, {"is_stable", true}}, {computation});
  Dims limits = shape.dims();
  limits[axis] = first.dims()[axis];
  return First(context, sorted, limits);
}

constexpr Row kOrderRows[] = {
    {"@ApproxTopK", LowerApproxTopK},
    {"stablehlo.sort", LowerSort},
    {"chlo.top_k", LowerTopK},
};

}  // namespace

absl::Span<const Row> OrderRows() { return kOrderRows; }

}  // namespace hawser::stablehlo
