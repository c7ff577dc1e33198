#include "core/ops/movement/sort.h"

#include <limits>
#include <string>

#include "core/base/status.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser {
namespace {

DType SignedOfWidth(int bits) {
  if (bits == 16) return DType::kS16;
  return bits == 32 ? DType::kS32 : DType::kS64;
}

}  // namespace

absl::StatusOr<Shapes> InferSort(const InferContext& context) {
  HAWSER_RETURN_IF_ERROR(CheckSameDims(context, 1));
  HAWSER_RETURN_IF_ERROR(
      CheckAxis(context, 2, "dimension", context.operands[0]));
  Signature expected;
  for (const Shape& input : context.operands) {
    expected.parameters.insert(expected.parameters.end(), 2,
                               Shape::Scalar(input.dtype()));
  }
  expected.results.push_back(Shape::Scalar(DType::kBool));
  if (*context.called[0] != expected) {
    return Violates(3, "the computation is ", context.called[0]->ToString(),
                    ", must be ", expected.ToString());
  }
  return Shapes(context.operands.begin(), context.operands.end());
}

Expression OrderOf(const Expression& x) {
  const DType dtype = x.dtype();
  if (!IsFloat(dtype)) return x;
  // Zeros of two signs become one, and NaN of any kind another.
  const Expression zero = Like(x, 0);
  const Expression number =
      Choose(Compare(x, CompareDirection::kEq, zero), zero, x);
  const Expression plain =
      Choose(Compare(x, CompareDirection::kEq, x), number,
             Like(x, std::numeric_limits<double>::quiet_NaN()));
  // The bits of a negative number but its sign are flipped.
  const int width = BitWidth(dtype);
  const Expression bits =
      Apply(kBitcastConvert, {plain}, {{"dtype", SignedOfWidth(width)}});
  const Expression sign =
      Apply(kShiftRightArithmetic, {bits, Like(bits, width - 1)});
  const Expression flips = Apply(kShiftRightLogical, {sign, Like(bits, 1)});
  return Apply(kXor, {bits, flips});
}

int AddComparator(DType dtype, bool descending,
                  absl::Span<const DType> others, Module* module) {
  HAWSER_CHECK(!IsComplex(dtype));
  Monoids monoids;
  ComputationBuilder builder(module, descending ? "greater" : "less");
  ExpressionScope scope{builder, monoids};
  const auto parameter = [&](DType of) {
    return Expression(&scope,
                      builder.Parameter(Shape::Scalar(of), SourceLocation{}));
  };
  const Expression lhs = parameter(dtype), rhs = parameter(dtype);
  for (const DType other : others) {
    parameter(other);
    parameter(other);
  }
  const Expression less =
      Compare(OrderOf(lhs),
              descending ? CompareDirection::kGt : CompareDirection::kLt,
              OrderOf(rhs));
  const auto number = builder.Finish({less.value()});
  HAWSER_CHECK(number.ok());
  return *number;
}

}  // namespace hawser
