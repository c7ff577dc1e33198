// Calls of LAPACK and cuSOLVER by their targets, as JAX exports them for the
// CPU and for CUDA.

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/linalg/fields.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::stablehlo {
namespace {

// Returns whether a letter of LAPACK's, which is a number in the text, is
// `yes`.
absl::StatusOr<bool> IsLetter(const OpContext& context, absl::string_view name,
                              char yes) {
  HAWSER_ASSIGN_OR_RETURN(const absl::string_view text,
                          FieldText(context.op, name));
  int letter = 0;
  if (absl::SimpleAtoi(text, &letter)) return letter == yes;
  return InvalidArgument(name, " is no letter");
}

absl::StatusOr<bool> IsLower(const OpContext& context) {
  const auto flag = FieldText(context.op, "lower");
  if (flag.ok()) return *flag == "true";
  return IsLetter(context, "uplo", 'L');
}

// Returns 1 for each matrix whose first element is NaN, else 0.
ValueId InfoOf(OpContext& context, ValueId matrices, const Shape& info) {
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression x(&scope, matrices);
  Dims limits = x.dims();
  if (limits.size() < 2) return matrices;  // after an error
  if (limits.back() == 0 || limits[limits.size() - 2] == 0) {
    return Filled(&scope, info, 0).value();
  }
  limits.back() = limits[limits.size() - 2] = 1;
  const Expression first = Apply(kSlice, {x},
                                 {{"limit_indices", limits},
                                  {"start_indices", Dims(limits.size(), 0)},
                                  {"strides", Dims(limits.size(), 1)}});
  const Expression flat = Reshaped(first, info.dims());
  return ConvertTo(Compare(flat, CompareDirection::kNe, flat), info.dtype())
      .value();
}

// Adds to the values what is said of them in the last result.
absl::StatusOr<Values> WithInfo(OpContext& context, Values values) {
  if (values.empty()) return values;  // after an error
  values.push_back(InfoOf(context, values[0], context.results.back()));
  return values;
}

absl::Status Expect(OpContext& context, size_t operands, size_t results) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(operands, operands));
  if (context.results.size() == results) return absl::OkStatus();
  return InvalidArgument("gives ", results, " results, has ",
                         context.results.size());
}

absl::StatusOr<Values> LowerPotrf(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 1, 2));
  HAWSER_ASSIGN_OR_RETURN(const bool lower, IsLower(context));
  return WithInfo(context,
                  context.Add(kCholesky, context.operands, {{"lower", lower}}));
}

// Its pivots count from 1.
absl::StatusOr<Values> LowerGetrf(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 1, 3));
  const Values all = context.Add(kLu, context.operands);
  if (all.empty()) return all;
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression pivots(&scope, all[1]);
  return WithInfo(context, {all[0], (pivots + 1).value()});
}

absl::StatusOr<Values> LowerGeqrf(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 1, 2));
  return context.Add(kGeqrf, context.operands);
}

absl::StatusOr<Values> LowerOrgqr(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 2, 1));
  return context.Add(kHouseholderProduct, context.operands);
}

// It gives the operand, of which LAPACK leaves other things, values and
// vectors; without vectors zeros stand for them.
absl::StatusOr<Values> LowerGesdd(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 1, 5));
  HAWSER_ASSIGN_OR_RETURN(const bool full, IsLetter(context, "mode", 'A'));
  HAWSER_ASSIGN_OR_RETURN(const bool none, IsLetter(context, "mode", 'N'));
  Values all = context.Add(kSvd, context.operands,
                           {{"compute_uv", !none}, {"full_matrices", full}});
  if (all.empty()) return all;
  ExpressionScope scope{context.builder(), context.program.monoids()};
  for (size_t k = 2; none && k < 4; ++k) {
    all.push_back(Filled(&scope, context.results[k], 0).value());
  }
  const Expression s(&scope, all[0]);
  Dims column = s.dims();
  column.push_back(1);
  const ValueId info =
      InfoOf(context, Reshaped(s, column).value(), context.results.back());
  return Values{context.operands[0], all[0], all[1], all[2], info};
}

absl::StatusOr<Values> LowerSyevd(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 1, 3));
  HAWSER_ASSIGN_OR_RETURN(const bool lower, IsLower(context));
  const Values all = context.Add(kEigh, context.operands, {{"lower", lower}});
  if (all.empty()) return all;
  return WithInfo(context, {all[1], all[0]});
}

// It gives the values, of reals their real and imaginary parts apart, the left
// vectors, which must not be asked for, and the right ones; what is not asked
// for is 0.
absl::StatusOr<Values> LowerGeev(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  const bool real = !IsComplex(context.shape(context.operands[0]).dtype());
  HAWSER_RETURN_IF_ERROR(Expect(context, 1, real ? 5 : 4));
  HAWSER_ASSIGN_OR_RETURN(const bool left,
                          IsLetter(context, "compute_left", 'V'));
  HAWSER_ASSIGN_OR_RETURN(const bool right,
                          IsLetter(context, "compute_right", 'V'));
  if (left) return Unimplemented("left eigenvectors");
  const Values all = context.Add(kEig, context.operands);
  if (all.empty()) return all;
  ExpressionScope scope{context.builder(), context.program.monoids()};
  const Expression w(&scope, all[0]);
  Values out = {all[0]};
  if (real) {
    out = {Apply(kReal, {w}).value(), Apply(kImag, {w}).value()};
  }
  const Shape& vectors = context.results[out.size()];
  const ValueId none = Filled(&scope, vectors, 0).value();
  out.push_back(none);
  out.push_back(right ? all[1] : none);
  Dims column = w.dims();
  column.push_back(1);
  out.push_back(InfoOf(context, Reshaped(Apply(kReal, {w}), column).value(),
                       context.results.back()));
  return out;
}

absl::StatusOr<Values> LowerTrsm(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(Expect(context, 2, 1));
  HAWSER_ASSIGN_OR_RETURN(const bool left, IsLetter(context, "side", 'L'));
  HAWSER_ASSIGN_OR_RETURN(const bool lower, IsLower(context));
  HAWSER_ASSIGN_OR_RETURN(const bool unit, IsLetter(context, "diag", 'U'));
  HAWSER_ASSIGN_OR_RETURN(const bool plain, IsLetter(context, "trans_x", 'N'));
  HAWSER_ASSIGN_OR_RETURN(const bool adjoint,
                          IsLetter(context, "trans_x", 'C'));
  const absl::string_view op = plain     ? kNoTranspose
                               : adjoint ? kAdjointOf
                                         : kTransposeOf;
  return context.Add(kTriangularSolve, context.operands,
                     {{"left_side", left},
                      {"lower", lower},
                      {"transpose_a", std::string(op)},
                      {"unit_diagonal", unit}});
}

constexpr Row kLibraryRows[] = {
    {"@cusolver_geqrf_ffi", LowerGeqrf}, {"@cusolver_getrf_ffi", LowerGetrf},
    {"@cusolver_orgqr_ffi", LowerOrgqr}, {"@cusolver_potrf_ffi", LowerPotrf},
    {"@cusolver_syevd_ffi", LowerSyevd}, {"@lapack_cgeev_ffi", LowerGeev},
    {"@lapack_cgeqrf_ffi", LowerGeqrf},  {"@lapack_cgesdd_ffi", LowerGesdd},
    {"@lapack_cgetrf_ffi", LowerGetrf},  {"@lapack_cheevd_ffi", LowerSyevd},
    {"@lapack_cpotrf_ffi", LowerPotrf},  {"@lapack_ctrsm_ffi", LowerTrsm},
    {"@lapack_cungqr_ffi", LowerOrgqr},  {"@lapack_dgeev_ffi", LowerGeev},
    {"@lapack_dgeqrf_ffi", LowerGeqrf},  {"@lapack_dgesdd_ffi", LowerGesdd},
    {"@lapack_dgetrf_ffi", LowerGetrf},  {"@lapack_dorgqr_ffi", LowerOrgqr},
    {"@lapack_dpotrf_ffi", LowerPotrf},  {"@lapack_dsyevd_ffi", LowerSyevd},
    {"@lapack_dtrsm_ffi", LowerTrsm},    {"@lapack_sgeev_ffi", LowerGeev},
    {"@lapack_sgeqrf_ffi", LowerGeqrf},  {"@lapack_sgesdd_ffi", LowerGesdd},
    {"@lapack_sgetrf_ffi", LowerGetrf},  {"@lapack_sorgqr_ffi", LowerOrgqr},
    {"@lapack_spotrf_ffi", LowerPotrf},  {"@lapack_ssyevd_ffi", LowerSyevd},
    {"@lapack_strsm_ffi", LowerTrsm},    {"@lapack_zgeev_ffi", LowerGeev},
    {"@lapack_zgeqrf_ffi", LowerGeqrf},  {"@lapack_zgesdd_ffi", LowerGesdd},
    {"@lapack_zgetrf_ffi", LowerGetrf},  {"@lapack_zheevd_ffi", LowerSyevd},
    {"@lapack_zpotrf_ffi", LowerPotrf},  {"@lapack_ztrsm_ffi", LowerTrsm},
    {"@lapack_zungqr_ffi", LowerOrgqr},
};

}  // namespace

absl::Span<const Row> LibraryRows() { return kLibraryRows; }

}  // namespace hawser::stablehlo
