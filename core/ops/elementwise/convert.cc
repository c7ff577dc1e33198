#include "core/ops/elementwise/convert.h"

#include <algorithm>
#include <utility>

namespace hawser {
namespace {

absl::StatusOr<Shapes> Converted(const InferContext& context) {
  const DType to = ResultDType(context);
  HAWSER_RETURN_IF_ERROR(CheckDType(context, 1, 0));
  if (!context.op.dtypes.Has(to)) {
    return Violates(1, "dtype is ", DTypeName(to), ", must be one of ",
                    context.op.dtypes.ToString());
  }
  HAWSER_ASSIGN_OR_RETURN(Shape result,
                          MakeResult(1, to, context.operands[0].dims()));
  return Shapes{std::move(result)};
}

}  // namespace

absl::StatusOr<Shapes> InferConvert(const InferContext& context) {
  return Converted(context);
}

int BitsOfElement(DType dtype) { return IsBool(dtype) ? 1 : BitWidth(dtype); }

bool SameWidth(DType from, DType to) {
  return BitsOfElement(from) == BitsOfElement(to);
}

absl::StatusOr<Shapes> InferBitcastConvert(const InferContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Shapes result, Converted(context));
  const Shape& operand = context.operands[0];
  const DType from = operand.dtype(), to = result[0].dtype();
  if (IsComplex(from) != IsComplex(to)) {
    return Violates(2, "from ", DTypeName(from), " to ", DTypeName(to),
                    " is between real and complex");
  }
  const int wide = BitsOfElement(from), narrow = BitsOfElement(to);
  Dims dims = operand.dims();
  if (wide > narrow) dims.push_back(wide / narrow);
  if (wide < narrow) {
    if (dims.empty() || dims.back() != narrow / wide) {
      return Violates(3, "the last axis of ", operand.ToString(), " must hold ",
                      narrow / wide, " elements, which are one ",
                      DTypeName(to));
    }
    dims.pop_back();
  }
  HAWSER_ASSIGN_OR_RETURN(Shape shape, MakeResult(1, to, dims));
  return Shapes{std::move(shape)};
}

// The axis that one of both lacks cannot be split.
AxisMap BitcastConvertAxes(const InferContext& context,
                           absl::Span<const Shape> results) {
  AxisMap map = EmptyAxes(context, results);
  const int both = std::min(context.operands[0].rank(), results[0].rank());
  for (int axis = 0; axis < both; ++axis) {
    map.operands[0][axis] = map.results[0][axis] =
        map.AddFactor(AxisKind::kParallel, results[0].dim(axis));
  }
  return OpaqueRest(std::move(map), context, results);
}

}  // namespace hawser
