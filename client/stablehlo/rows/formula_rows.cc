// Functions that are formulas of core/ops, and the few besides them.

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/bits.h"
#include "core/ops/formulas/formulas.h"

namespace hawser::stablehlo {
namespace {

// Programs that check themselves expect the nearest number, so f32 is computed
// in f64.
absl::StatusOr<Values> LowerFormula(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  const DType dtype = context.operand_shape(0).dtype();
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x(&scope, context.operands[0]);
  const absl::string_view name = absl::StripPrefix(context.row.name, "chlo.");
  for (const Formula* formula : kFormulas) {
    if (formula->name != name || !Takes(*formula, dtype)) continue;
    return Values{Computed(*formula, x, Working::kWide).value()};
  }
  return Unimplemented("of ", DTypeName(dtype));
}

// For complex numbers it is -i log((x + iy) / sqrt(x^2 + y^2)), as XLA has it.
absl::StatusOr<Values> LowerAtan2(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  const Shape of = context.operand_shape(0);
  if (!IsComplex(of.dtype()) || of != context.operand_shape(1)) {
    return LowerElementwise(context);
  }
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression y(&scope, context.operands[0]);
  const Expression x(&scope, context.operands[1]);
  const Expression turned =
      Apply(kComplex, {-Apply(kImag, {y}), Apply(kReal, {y})});
  const Expression size = Apply(kSqrt, {x * x + y * y});
  const Expression log = Apply(kLog, {(x + turned) / size});
  return Values{
      Apply(kComplex, {Apply(kImag, {log}), -Apply(kReal, {log})}).value()};
}

absl::StatusOr<Values> LowerSquare(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  const ValueId x = context.operands[0];
  return context.Add(kMultiply, {x, x});
}

absl::StatusOr<Values> LowerConjugate(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  if (!IsComplex(context.operand_shape(0).dtype())) return context.operands;
  ExpressionScope scope{context.builder(), context.program.monoids()};
  return Values{Conjugate(Expression(&scope, context.operands[0])).value()};
}

absl::StatusOr<Values> LowerNextAfter(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  const Shape from = context.operand_shape(0), to = context.operand_shape(1);
  if (from != to || !IsFloat(from.dtype())) {
    return InvalidArgument("operands are ", from.ToString(), " and ",
                           to.ToString());
  }
  ExpressionScope scope{context.builder(), context.program.monoids()};
  return Values{formulas::NextAfter(Expression(&scope, context.operands[0]),
                                    Expression(&scope, context.operands[1]))
                    .value()};
}

// "e5m10", or two attributes.
absl::StatusOr<Values> LowerReducePrecision(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  HAWSER_ASSIGN_OR_RETURN(int64_t exponent, context.Int("exponent_bits", -1));
  HAWSER_ASSIGN_OR_RETURN(int64_t mantissa, context.Int("mantissa_bits", -1));
  const absl::string_view format = context.Text("format");
  const size_t m = format.find('m');
  if (m != absl::string_view::npos && format[0] == 'e' &&
      !(absl::SimpleAtoi(format.substr(1, m - 1), &exponent) &&
        absl::SimpleAtoi(format.substr(m + 1), &mantissa))) {
    return InvalidArgument("the format ", Quoted(format), " is none");
  }
  return context.Add(
      kReducePrecision, context.operands,
      {{"exponent_bits", exponent}, {"mantissa_bits", mantissa}});
}

constexpr Row kFormulaRows[] = {
    {"chlo.acos", LowerFormula},
    {"chlo.acosh", LowerFormula},
    {"chlo.asin", LowerFormula},
    {"chlo.asinh", LowerFormula},
    {"chlo.atan", LowerFormula},
    {"chlo.atanh", LowerFormula},
    {"chlo.bessel_i1e", LowerFormula},
    {"chlo.conj", LowerConjugate},
    {"chlo.cosh", LowerFormula},
    {"chlo.digamma", LowerFormula},
    {"chlo.erf_inv", LowerFormula},
    {"chlo.next_after", LowerNextAfter},
    {"chlo.sinh", LowerFormula},
    {"chlo.square", LowerSquare},
    {"stablehlo.atan2", LowerAtan2, &kAtan2},
    {"stablehlo.reduce_precision", LowerReducePrecision},
};

}  // namespace

absl::Span<const Row> FormulaRows() { return kFormulaRows; }

}  // namespace hawser::stablehlo
