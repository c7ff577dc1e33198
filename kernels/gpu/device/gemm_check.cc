#include "kernels/gpu/device/gemm_check.h"

#include <algorithm>

#include "core/base/status.h"
#include "core/base/values/dtype.h"

namespace hawser::gpu {
namespace {

absl::Status CheckLayout(absl::string_view name, const MatrixLayout& layout,
                         int64_t rows, int64_t columns) {
  if (layout.leading < 0 || layout.batch_stride < 0) {
    return InvalidArgument("gemm: ", name, " has a negative stride, ",
                           layout.leading, " or ", layout.batch_stride);
  }
  const int64_t line = layout.column_major ? rows : columns;
  if (layout.leading != 0 && layout.leading < line) {
    return InvalidArgument("gemm: ", name, " has lines of ", line,
                           " elements, ", layout.leading, " apart");
  }
  return absl::OkStatus();
}

// All that may overlap is a factor with itself.
absl::Status CheckApart(const GemmSpec& s) {
  if (s.batch < 2 || s.m == 0 || s.n == 0) return absl::OkStatus();
  const int64_t lines = s.d.column_major ? s.n : s.m;
  const int64_t line = s.d.column_major ? s.m : s.n;
  const int64_t elements = (lines - 1) * LeadingOf(s.d, s.m, s.n) + line;
  if (s.d.batch_stride >= elements) return absl::OkStatus();
  return InvalidArgument("gemm: results of ", elements, " elements, ",
                         s.d.batch_stride, " apart");
}

absl::Status CheckTail(const GemmSpec& s) {
  if (s.has_c &&
      (s.c.dtype != s.d.dtype || s.c.column_major != s.d.column_major)) {
    return Unimplemented("gemm: c and d differ in dtype or layout");
  }
  const bool is_plain =
      !s.has_bias && s.activation == GemmActivation::kIdentity;
  if (is_plain || (IsFloat(s.d.dtype) && !s.d.column_major)) {
    return absl::OkStatus();
  }
  return Unimplemented("gemm: a bias or activation of ", DTypeName(s.d.dtype),
                       ", ", s.d.column_major ? "column" : "row", "-major");
}

}  // namespace

int64_t LeadingOf(const MatrixLayout& layout, int64_t rows, int64_t columns) {
  if (layout.leading != 0) return layout.leading;
  return std::max<int64_t>(layout.column_major ? rows : columns, 1);
}

absl::Status CheckGemm(const GemmSpec& s) {
  if (s.batch < 0 || s.m < 0 || s.n < 0 || s.k < 0) {
    return InvalidArgument("gemm: sizes ", s.batch, " x ", s.m, " x ", s.n,
                           " x ", s.k);
  }
  HAWSER_RETURN_IF_ERROR(CheckLayout("a", s.a, s.m, s.k));
  HAWSER_RETURN_IF_ERROR(CheckLayout("b", s.b, s.k, s.n));
  HAWSER_RETURN_IF_ERROR(CheckLayout("d", s.d, s.m, s.n));
  if (s.has_c) HAWSER_RETURN_IF_ERROR(CheckLayout("c", s.c, s.m, s.n));
  HAWSER_RETURN_IF_ERROR(CheckApart(s));
  return CheckTail(s);
}

absl::StatusOr<GemmOperands> GemmOperandsOf(const GemmSpec& spec,
                                            const CallOperands& operands) {
  const size_t count = size_t{2} + spec.has_c + spec.has_bias;
  if (operands.operands.size() != count || operands.results.size() != 1) {
    return InvalidArgument("gemm: ", operands.operands.size(), " operands and ",
                           operands.results.size(), " results, not ", count,
                           " and 1");
  }
  GemmOperands named{.a = operands.operands[0],
                     .b = operands.operands[1],
                     .d = operands.results[0],
                     .workspace = operands.workspace};
  if (spec.has_c) named.c = operands.operands[2];
  if (spec.has_bias) named.bias = operands.operands.back();
  return named;
}

}  // namespace hawser::gpu
