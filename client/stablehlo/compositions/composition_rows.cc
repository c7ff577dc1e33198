// The rows of compositions: in which dtype each is computed.

#include "absl/strings/numbers.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/compositions/bits.h"
#include "client/stablehlo/compositions/compositions.h"
#include "core/base/status.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::stablehlo {
namespace {

struct Composition {
  absl::string_view name;
  Expression (*real)(const Expression&) = nullptr;
  Expression (*complex)(const Expression&) = nullptr;
};

constexpr Composition kCompositions[] = {
    {"stablehlo.tan", Tan, ComplexTan},
    {"chlo.tan", Tan, ComplexTan},
    {"chlo.sinh", Sinh, ComplexSinh},
    {"chlo.cosh", Cosh, ComplexCosh},
    {"chlo.asin", Asin, ComplexAsin},
    {"chlo.acos", Acos, ComplexAcos},
    {"chlo.atan", Atan, ComplexAtan},
    {"chlo.asinh", Asinh, ComplexAsinh},
    {"chlo.acosh", Acosh, ComplexAcosh},
    {"chlo.atanh", Atanh, ComplexAtanh},
    {"chlo.square", Square, Square},
    {"chlo.erf", Erf},
    {"chlo.erfc", Erfc},
    {"chlo.erf_inv", ErfInv},
    {"chlo.lgamma", Lgamma},
    {"chlo.digamma", Digamma},
    {"chlo.bessel_i1e", BesselI1e},
};

// Halves in f32, f32 in f64: what is lost on the way is lost behind the
// result's last place.
DType WorkingDType(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
      return DType::kF32;
    case DType::kF32:
    case DType::kF64:
      return DType::kF64;
    default:
      return DType::kC128;
  }
}

absl::StatusOr<Values> LowerFunction(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  const DType dtype = context.operand_shape(0).dtype();
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x(&scope, context.operands[0]);
  for (const Composition& composition : kCompositions) {
    if (composition.name != context.row.name) continue;
    const auto function =
        IsComplex(dtype) ? composition.complex : composition.real;
    if (function == nullptr || !(IsFloat(dtype) || IsComplex(dtype))) break;
    const Expression wide = ConvertTo(x, WorkingDType(dtype));
    return Values{ConvertTo(function(wide), dtype).value()};
  }
  return Unimplemented("of ", DTypeName(dtype));
}

absl::StatusOr<Values> LowerConjugate(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  if (!IsComplex(context.operand_shape(0).dtype())) return context.operands;
  const ValueId real = context.AddOne(kReal, context.operands);
  const ValueId imaginary = context.AddOne(kImag, context.operands);
  HAWSER_RETURN_IF_ERROR(context.builder().status());
  const ValueId negated = context.AddOne(kNegate, {imaginary});
  return context.Add(kComplex, {real, negated});
}

// An op of one dtype's operands, of which it takes so many.
absl::Status ExpectDType(OpContext& context, size_t count, bool floats) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(count, count));
  const Shape first = context.operand_shape(0);
  for (size_t i = 0; i < count; ++i) {
    if (context.operand_shape(i) != first) {
      return InvalidArgument("operands are ", first.ToString(), " and ",
                             context.operand_shape(i).ToString());
    }
  }
  if (floats ? IsFloat(first.dtype()) : IsInteger(first.dtype())) {
    return absl::OkStatus();
  }
  return InvalidArgument("is not of ", DTypeName(first.dtype()));
}

absl::StatusOr<Values> LowerPopulationCount(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(ExpectDType(context, 1, /*floats=*/false));
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x(&scope, context.operands[0]);
  return Values{PopulationCount(x).value()};
}

absl::StatusOr<Values> LowerRound(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(ExpectDType(context, 1, /*floats=*/true));
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x(&scope, context.operands[0]);
  return Values{RoundAwayFromZero(x).value()};
}

absl::StatusOr<Values> LowerNextAfter(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(ExpectDType(context, 2, /*floats=*/true));
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression from(&scope, context.operands[0]);
  const Expression to(&scope, context.operands[1]);
  return Values{NextAfter(from, to).value()};
}

// "e5m10", or two attributes.
absl::StatusOr<Values> LowerReducePrecision(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(ExpectDType(context, 1, /*floats=*/true));
  HAWSER_ASSIGN_OR_RETURN(int64_t exponent, context.Int("exponent_bits", -1));
  HAWSER_ASSIGN_OR_RETURN(int64_t mantissa, context.Int("mantissa_bits", -1));
  const absl::string_view format = context.Text("format");
  const size_t m = format.find('m');
  if (m != absl::string_view::npos && format[0] == 'e' &&
      !(absl::SimpleAtoi(format.substr(1, m - 1), &exponent) &&
        absl::SimpleAtoi(format.substr(m + 1), &mantissa))) {
    return InvalidArgument("the format ", Quoted(format), " is none");
  }
  if (exponent < 1 || mantissa < 0 || exponent > 64 || mantissa > 64) {
    return InvalidArgument("a float of ", exponent, " bits of exponent and ",
                           mantissa, " of mantissa");
  }
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x(&scope, context.operands[0]);
  return Values{
      ReducePrecision(x, static_cast<int>(exponent), static_cast<int>(mantissa))
          .value()};
}

constexpr Row kRows[] = {
    {"stablehlo.tan", LowerFunction},
    {"chlo.tan", LowerFunction},
    {"chlo.sinh", LowerFunction},
    {"chlo.cosh", LowerFunction},
    {"chlo.asin", LowerFunction},
    {"chlo.acos", LowerFunction},
    {"chlo.atan", LowerFunction},
    {"chlo.asinh", LowerFunction},
    {"chlo.acosh", LowerFunction},
    {"chlo.atanh", LowerFunction},
    {"chlo.square", LowerFunction},
    {"chlo.erf", LowerFunction},
    {"chlo.erfc", LowerFunction},
    {"chlo.erf_inv", LowerFunction},
    {"chlo.lgamma", LowerFunction},
    {"chlo.digamma", LowerFunction},
    {"chlo.bessel_i1e", LowerFunction},
    {"chlo.conj", LowerConjugate},
    {"chlo.next_after", LowerNextAfter},
    {"stablehlo.popcnt", LowerPopulationCount},
    {"stablehlo.round_nearest_afz", LowerRound},
    {"stablehlo.reduce_precision", LowerReducePrecision},
};

}  // namespace

absl::Span<const Row> CompositionRows() { return kRows; }

}  // namespace hawser::stablehlo
