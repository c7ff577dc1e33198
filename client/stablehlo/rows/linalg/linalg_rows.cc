// Factorizations, and what is solved with them, are computed in f32 of halves.

#include <string>
#include <utility>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/linalg/fields.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/linalg/linalg.h"

namespace hawser::stablehlo {
namespace {

bool Flag(const OpContext& context, absl::string_view name) {
  return context.Text(name) == "true";
}

// Adds `def` of the operands, of halves in f32, and gives each result its
// dtype.
absl::StatusOr<Values> AddWide(OpContext& context, const OpDef& def,
                               Attributes attributes) {
  for (ValueId& value : context.operands) {
    const DType dtype = context.shape(value).dtype();
    if (dtype == DType::kF16 || dtype == DType::kBF16) {
      value = context.AddOne(kConvert, {value}, {{"dtype", DType::kF32}});
    }
  }
  Values values = context.Add(def, context.operands, std::move(attributes));
  for (size_t k = 0; k < values.size() && k < context.results.size(); ++k) {
    const DType dtype = context.results[k].dtype();
    if (context.shape(values[k]).dtype() == dtype) continue;
    if (dtype != DType::kF16 && dtype != DType::kBF16) continue;
    values[k] = context.AddOne(kConvert, {values[k]}, {{"dtype", dtype}});
  }
  return values;
}

absl::StatusOr<Values> LowerCholesky(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  return AddWide(context, kCholesky, {{"lower", Flag(context, "lower")}});
}

absl::StatusOr<Values> LowerTriangularSolve(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(2, 2));
  return AddWide(context, kTriangularSolve,
                 {{"left_side", Flag(context, "left_side")},
                  {"lower", Flag(context, "lower")},
                  {"transpose_a", std::string(context.Text("transpose_a"))},
                  {"unit_diagonal", Flag(context, "unit_diagonal")}});
}

// Adds the op of a target, whose flags are fields and whose results are those
// of ours in another order.
absl::StatusOr<Values> AddTarget(OpContext& context, const OpDef& def,
                                 absl::Span<const int> order) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(def.arity.min, def.arity.min));
  Attributes flags;
  for (const AttributeSpec& flag : def.attributes) {
    HAWSER_ASSIGN_OR_RETURN(const absl::string_view value,
                            FieldText(context.op, flag.name));
    flags.Set(flag.name, value == "true");
  }
  const Values values = context.Add(def, context.operands, std::move(flags));
  if (values.size() != context.results.size()) return values;  // told there
  Values out;
  for (size_t k = 0; k < values.size(); ++k) {
    out.push_back(values[k < order.size() ? order[k] : k]);
  }
  return out;
}

absl::StatusOr<Values> LowerTarget(OpContext& context) {
  return AddTarget(context, *context.row.op, {});
}

// JAX has the vectors first.
absl::StatusOr<Values> LowerEigh(OpContext& context) {
  return AddTarget(context, kEigh, {1, 0});
}

// The vectors have no readers where the values alone are asked for.
absl::StatusOr<Values> LowerEig(OpContext& context) {
  HAWSER_ASSIGN_OR_RETURN(Values values, AddTarget(context, kEig, {}));
  if (context.results.size() == 1 && values.size() == 2) values.pop_back();
  return values;
}

constexpr Row kLinalgRows[] = {
    {"@hawser.eig", LowerEig},
    {"@hawser.eigh", LowerEigh},
    {"@hawser.geqrf", LowerTarget, &kGeqrf},
    {"@hawser.householder_product", LowerTarget, &kHouseholderProduct},
    {"@hawser.lu", LowerTarget, &kLu},
    {"@hawser.svd", LowerTarget, &kSvd},
    {"@ProductOfElementaryHouseholderReflectors", LowerTarget,
     &kHouseholderProduct},
    {"@Qr", LowerTarget, &kGeqrf},
    {"stablehlo.cholesky", LowerCholesky, &kCholesky},
    {"stablehlo.triangular_solve", LowerTriangularSolve, &kTriangularSolve},
};

}  // namespace

absl::Span<const Row> LinalgRows() { return kLinalgRows; }

}  // namespace hawser::stablehlo
