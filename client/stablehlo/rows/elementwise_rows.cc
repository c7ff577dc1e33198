// Ops of one element of each operand: those that are more than a name.

#include <string>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/formulas/bits.h"

namespace hawser::stablehlo {
namespace {

// For bools a sum is `or` and a product `and`.
const OpDef* OfBools(const OpDef* op) {
  if (op == &kAdd) return &kOr;
  return op == &kMultiply ? &kAnd : op;
}

absl::StatusOr<Values> LowerCompare(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  const std::string direction(context.Text("comparison_direction"));
  Values on = context.operands;
  if (context.Text("compare_type") == "TOTALORDER" &&
      IsFloat(context.operand_shape(0).dtype())) {
    ExpressionScope scope{context.builder(), context.program.monoids()};
    for (ValueId& value : on) {
      value = TotalOrder(Expression(&scope, value)).value();
    }
  }
  return context.Add(kCompare, on, {{"direction", direction}});
}

// Complex numbers are in no order.
std::string MissingClamp(const Op& op) {
  if (op.operand_types.empty()) return "";
  const DType dtype = op.operand_types[0].dtype;
  return IsComplex(dtype) ? absl::StrCat("of ", DTypeName(dtype)) : "";
}

constexpr Row kElementwiseRows[] = {
    {"stablehlo.compare", LowerCompare},
    {"stablehlo.select", LowerElementwise, &kSelect},
    {"stablehlo.clamp", LowerElementwise, &kClamp, MissingClamp},
    {"stablehlo.convert", LowerByName, &kConvert},
    {"stablehlo.bitcast_convert", LowerByName, &kBitcastConvert},
};

}  // namespace

absl::Span<const Row> ElementwiseRows() { return kElementwiseRows; }

// The bits of a negative number but its sign are flipped.
Expression TotalOrder(const Expression& x) {
  const int bits = BitWidth(x.dtype());
  const DType integer = formulas::SignedOf(x.dtype());
  const Expression raw = Apply(kBitcastConvert, {x}, {{"dtype", integer}});
  const Expression sign =
      Apply(kShiftRightArithmetic, {raw, Like(raw, bits - 1)});
  const Expression flips = Apply(kShiftRightLogical, {sign, Like(raw, 1)});
  return Apply(kXor, {raw, flips});
}

absl::StatusOr<Values> LowerElementwise(OpContext& context) {
  const OpDef* op = context.row.op;
  if (!context.operands.empty() &&
      context.operand_shape(0).dtype() == DType::kBool) {
    op = OfBools(op);
  }
  return context.Add(*op, context.operands);
}

}  // namespace hawser::stablehlo
