// Reductions and products of matrices.

#include <numeric>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/contraction/shared.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/convert.h"

namespace hawser::stablehlo {
namespace {

// True if every value of `from` is one of `to`, so that converting first
// changes no product.
bool Widens(DType from, DType to) {
  if (from == to) return true;
  const int a = BitWidth(from), b = BitWidth(to);
  if (IsFloat(from)) return (IsFloat(to) || IsComplex(to)) && b >= 2 * a;
  if (IsUnsigned(from)) return IsInteger(to) && b > a;
  return IsSigned(from) && IsSigned(to) && b > a;
}

}  // namespace

DType SumDType(DType lhs, DType rhs, DType result) {
  for (const DType dtype : {result, lhs, rhs}) {
    const bool sums = dtype == result || Widens(result, dtype);
    if (sums && Widens(lhs, dtype) && Widens(rhs, dtype)) return dtype;
  }
  return DType::kInvalid;
}

void ConvertOperands(OpContext& context, DType dtype) {
  for (ValueId& value : context.operands) {
    if (context.shape(value).dtype() == dtype) continue;
    value = context.AddOne(kConvert, {value}, {{"dtype", dtype}});
  }
}

bool WantsAllBits(const Op& op) {
  const Attribute* precision = FindAttribute(op, "precision_config");
  if (precision == nullptr) precision = FindAttribute(op, "precision");
  if (precision == nullptr) return false;
  return absl::StrContains(precision->text, "HIGH") ||
         absl::c_any_of(precision->items, [](const AttributePtr& item) {
           return absl::StrContains(item->text, "HIGH");
         });
}

std::string MissingProduct(const Op& op) {
  if (op.operand_types.size() != 2 || op.result_types.size() != 1) return "";
  const DType lhs = op.operand_types[0].dtype, rhs = op.operand_types[1].dtype;
  const DType result = op.result_types[0].dtype;
  if (SumDType(lhs, rhs, result) != DType::kInvalid) return "";
  return absl::StrCat("of ", op.operand_types[0].element, " and ",
                      op.operand_types[1].element, " giving ",
                      op.result_types[0].element);
}

namespace {

absl::StatusOr<Values> Dot(OpContext& context, Attributes attributes) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  context.program.AddProduct(WantsAllBits(context.op));
  if (context.results.size() != 1) return InvalidArgument("has one result");
  const DType result = context.results[0].dtype();
  const DType lhs = context.operand_shape(0).dtype();
  const DType rhs = context.operand_shape(1).dtype();
  DType dtype = SumDType(lhs, rhs, result);
  // Of bools it is whether any pair holds: the number of those that do is not
  // 0.
  if (dtype == DType::kBool) dtype = DType::kS32;
  if (dtype == DType::kInvalid) {
    return Unimplemented("a product of these dtypes");
  }
  if (lhs == rhs && WidensProduct(lhs, dtype)) {
    attributes.Set("result_dtype", dtype);
  } else {
    ConvertOperands(context, dtype);
  }
  Values product =
      context.Add(kDotGeneral, context.operands, std::move(attributes));
  if (dtype == result || product.empty()) return product;
  return context.Add(kConvert, product, {{"dtype", result}});
}

absl::StatusOr<Values> LowerDotGeneral(OpContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Attributes attributes,
                          context.AttributesOf(kDotGeneral));
  return Dot(context, std::move(attributes));
}

// The last axis of the left side and the first of the right one.
absl::StatusOr<Values> LowerDot(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  const int64_t last = context.operand_shape(0).rank() - 1;
  return Dot(context, {{"lhs_batching_dimensions", Dims()},
                       {"lhs_contracting_dimensions", Dims{last}},
                       {"rhs_batching_dimensions", Dims()},
                       {"rhs_contracting_dimensions", Dims{0}}});
}

absl::StatusOr<Values> LowerReduce(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(1));
  for (size_t i = 0; i < context.operands.size(); ++i) {
    Promote(context, i, i);
  }
  return LowerByName(context);
}

constexpr Row kContractionRows[] = {
    {"stablehlo.reduce", LowerReduce, &kReduce},
    {"stablehlo.dot_general", LowerDotGeneral, nullptr, MissingProduct},
    {"stablehlo.dot", LowerDot, nullptr, MissingProduct},
};

}  // namespace

absl::Span<const Row> ContractionRows() { return kContractionRows; }

void Promote(OpContext& context, size_t i, size_t argument, size_t region) {
  const auto& arguments = context.op.regions[region].arguments;
  if (i >= context.operands.size() || argument >= arguments.size()) return;
  const DType wide = arguments[argument].type.dtype;
  const DType dtype = context.operand_shape(i).dtype();
  if (wide == dtype || !Widens(dtype, wide)) return;
  context.operands[i] =
      context.AddOne(kConvert, {context.operands[i]}, {{"dtype", wide}});
}

}  // namespace hawser::stablehlo
