#include "core/ops/elementwise/convert.h"

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

absl::StatusOr<Shapes> InferBitcastConvert(const InferContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Shapes result, Converted(context));
  const DType from = context.operands[0].dtype();
  const DType to = result[0].dtype();
  if (BitWidth(from) != BitWidth(to)) {
    return Violates(2, DTypeName(from), " has ", BitWidth(from), " bits, ",
                    DTypeName(to), " has ", BitWidth(to));
  }
  if (IsComplex(from) != IsComplex(to)) {
    return Violates(3, "from ", DTypeName(from), " to ", DTypeName(to),
                    " is between real and complex");
  }
  return result;
}

}  // namespace hawser
