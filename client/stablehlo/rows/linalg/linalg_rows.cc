// Factorizations, and what is solved with them. Halves are computed in f32.

#include <string>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/linalg/linalg.h"

namespace hawser::stablehlo {
namespace {

bool Flag(const OpContext& context, absl::string_view name) {
  return context.Text(name) == "true";
}

// `def` of the operands, of halves in f32; each result in its own dtype.
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

constexpr Row kRows[] = {
    {"stablehlo.cholesky", LowerCholesky, &kCholesky},
    {"stablehlo.triangular_solve", LowerTriangularSolve, &kTriangularSolve},
};

}  // namespace

absl::Span<const Row> LinalgRows() { return kRows; }

}  // namespace hawser::stablehlo
