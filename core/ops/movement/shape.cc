#include "core/ops/movement/shape.h"

#include <algorithm>

namespace hawser {
namespace {

// operand * count + addend, or -1 when that overflows or is negative.
int64_t SizeOf(int64_t size, int64_t interior, int64_t low, int64_t high) {
  int64_t gaps = 0;
  int64_t out = 0;
  const bool overflow =
      __builtin_mul_overflow(std::max<int64_t>(size - 1, 0), interior,
                             &gaps) ||
      __builtin_add_overflow(size, gaps, &out) ||
      __builtin_add_overflow(out, low, &out) ||
      __builtin_add_overflow(out, high, &out);
  return overflow ? -1 : out;
}

}  // namespace

absl::StatusOr<Shapes> InferIota(const InferContext& context) {
  const DType dtype = ResultDType(context);
  if (!context.op.dtypes.Has(dtype)) {
    return Violates(1, "dtype is ", DTypeName(dtype), ", must be one of ",
                    context.op.dtypes.ToString());
  }
  HAWSER_ASSIGN_OR_RETURN(
      Shape result, MakeResult(2, dtype, context.attributes.GetInts("dims")));
  HAWSER_RETURN_IF_ERROR(CheckAxis(context, 3, "iota_dimension", result));
  return Shapes{std::move(result)};
}

absl::StatusOr<Shapes> InferBroadcastInDim(const InferContext& context) {
  constexpr absl::string_view kWhere = "broadcast_dimensions";
  const Shape& operand = context.operands[0];
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(1, ResultDType(context),
                                     context.attributes.GetInts("dims")));
  HAWSER_RETURN_IF_ERROR(CheckLength(context, 2, kWhere, operand.rank()));
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 3, kWhere, result.rank()));
  HAWSER_RETURN_IF_ERROR(CheckUnique(context, 4, kWhere));
  const auto where = context.attributes.GetInts(kWhere);
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand.dim(i) == 1 || operand.dim(i) == result.dim(where[i])) {
      continue;
    }
    return Violates(5, "axis ", i, " of ", operand.ToString(),
                    " cannot become axis ", where[i], " of ",
                    result.ToString());
  }
  return Shapes{std::move(result)};
}

absl::StatusOr<Shapes> InferReshape(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(1, ResultDType(context),
                                     context.attributes.GetInts("dims")));
  if (result.num_elements() != operand.num_elements()) {
    return Violates(2, operand.ToString(), " has ", operand.num_elements(),
                    " elements, ", result.ToString(), " has ",
                    result.num_elements());
  }
  return Shapes{std::move(result)};
}

absl::StatusOr<Shapes> InferTranspose(const InferContext& context) {
  constexpr absl::string_view kPermutation = "permutation";
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(
      CheckLength(context, 1, kPermutation, operand.rank()));
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 1, kPermutation, operand.rank()));
  HAWSER_RETURN_IF_ERROR(CheckUnique(context, 1, kPermutation));
  Dims dims;
  for (int64_t axis : context.attributes.GetInts(kPermutation)) {
    dims.push_back(operand.dim(axis));
  }
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(1, ResultDType(context), dims));
  return Shapes{std::move(result)};
}

absl::StatusOr<Shapes> InferConcatenate(const InferContext& context) {
  const Shape& first = context.operands[0];
  const int64_t axis = context.attributes.GetInt("dimension");
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 1));
  HAWSER_RETURN_IF_ERROR(CheckAxis(context, 2, "dimension", first));
  Dims dims = first.dims();
  for (size_t i = 1; i < context.operands.size(); ++i) {
    const Shape& other = context.operands[i];
    Dims other_dims = other.dims();
    if (other.rank() == first.rank()) other_dims[axis] = first.dim(axis);
    if (other_dims != first.dims()) {
      return Violates(3, "operand 0 is ", first.ToString(), ", operand ", i,
                      " is ", other.ToString(), ", they may differ in axis ",
                      axis, " only");
    }
    if (__builtin_add_overflow(dims[axis], other.dim(axis), &dims[axis])) {
      return Violates(4, "the sizes of axis ", axis, " overflow");
    }
  }
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(4, ResultDType(context), dims));
  return Shapes{std::move(result)};
}

absl::StatusOr<Shapes> InferReverse(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 1, "dimensions", operand.rank()));
  HAWSER_RETURN_IF_ERROR(CheckUnique(context, 2, "dimensions"));
  return Shapes{operand};
}

absl::StatusOr<Shapes> InferPad(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckSameDTypes(context, 1));
  if (!context.operands[1].is_scalar()) {
    return Violates(2, "the padding value is ",
                    context.operands[1].ToString(), ", must be a scalar");
  }
  for (const AttributeSpec& spec : context.op.attributes) {
    HAWSER_RETURN_IF_ERROR(
        CheckLength(context, 3, spec.name, operand.rank()));
  }
  const auto low = context.attributes.GetInts("edge_padding_low");
  const auto high = context.attributes.GetInts("edge_padding_high");
  const auto interior = context.attributes.GetInts("interior_padding");
  Dims dims;
  for (int i = 0; i < operand.rank(); ++i) {
    if (interior[i] < 0) {
      return Violates(4, "interior padding of axis ", i, " is ", interior[i]);
    }
    dims.push_back(SizeOf(operand.dim(i), interior[i], low[i], high[i]));
    if (dims.back() < 0) {
      return Violates(5, "axis ", i, " of ", operand.ToString(),
                      " cannot be padded by ", low[i], ", ", interior[i],
                      " and ", high[i]);
    }
  }
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(5, ResultDType(context), dims));
  return Shapes{std::move(result)};
}

}  // namespace hawser
