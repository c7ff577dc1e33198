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
  return builder.Finish(
      {Compare(left, CompareDirection::kGt, right).value()});
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
  const ValueId places =
      context.AddOne(kIota, {},
                     {{"dims", shape.dims()},
                      {"dtype", DType::kS32},
                      {"iota_dimension", axis}});
  HAWSER_ASSIGN_OR_RETURN(const int larger, Larger(context, shape.dtype()));
  const Values sorted =
      context.Add(kSort, {context.operands[0], places},
                  {{"dimension", axis}, {"is_stable", true}}, {larger});
  const Dims starts(shape.rank(), 0), strides(shape.rank(), 1);
  Dims limits = shape.dims();
  limits[axis] = k;
  Values largest;
  for (const ValueId value : sorted) {
    largest.push_back(context.AddOne(kSlice, {value},
                                     {{"start_indices", starts},
                                      {"limit_indices", limits},
                                      {"strides", strides}}));
  }
  return largest;
}

constexpr Row kRows[] = {
    {"stablehlo.sort", LowerSort},
    {"chlo.top_k", LowerTopK},
};

}  // namespace

absl::Span<const Row> OrderRows() { return kRows; }

}  // namespace hawser::stablehlo
