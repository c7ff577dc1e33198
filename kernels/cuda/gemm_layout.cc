#include "kernels/cuda/gemm_layout.h"

#include <algorithm>
#include <utility>

#include "core/base/dtype.h"
#include "core/base/status.h"

namespace hawser::cuda {
namespace {

using gpu::GemmSpec;
using gpu::MatrixLayout;

// A `rows` x `columns` matrix of the spec. Of a row-major one the transpose
// lies there column-major.
absl::StatusOr<BlasMatrix> AsItLies(absl::string_view name,
                                    const MatrixLayout& layout, int64_t rows,
                                    int64_t columns) {
  BlasMatrix m{.dtype = layout.dtype,
               .rows = layout.column_major ? rows : columns,
               .columns = layout.column_major ? columns : rows,
               .leading = layout.leading,
               .batch_stride = layout.batch_stride};
  if (m.leading < 0 || m.batch_stride < 0) {
    return InvalidArgument("gemm: ", name, " has a negative stride, ",
                           m.leading, " or ", m.batch_stride);
  }
  if (m.leading != 0 && m.leading < m.rows) {
    return InvalidArgument("gemm: ", name, " has lines of ", m.rows,
                           " elements, ", m.leading, " apart");
  }
  if (m.leading == 0) m.leading = std::max<int64_t>(m.rows, 1);
  return m;
}

// The matrix, used so that it is the spec's (`as_is`) or its transpose.
BlasMatrix Used(BlasMatrix matrix, bool column_major, bool as_is) {
  matrix.is_transposed = column_major != as_is;
  return matrix;
}

absl::Status CheckResults(const GemmSpec& spec, const BlasMatrix& d) {
  const int64_t elements =
      d.rows == 0 ? 0 : (d.columns - 1) * d.leading + d.rows;
  if (spec.batch > 1 && d.columns > 0 && d.batch_stride < elements) {
    return InvalidArgument("gemm: results of ", elements, " elements, ",
                           d.batch_stride, " apart");
  }
  if (spec.has_c && (spec.c.dtype != spec.d.dtype ||
                     spec.c.column_major != spec.d.column_major)) {
    return Unimplemented("gemm: c and d differ in dtype or layout");
  }
  if (spec.has_bias && spec.d.column_major) {
    return Unimplemented("gemm: a bias of column-major results");
  }
  const bool has_tail =
      spec.has_bias || spec.activation != gpu::GemmActivation::kIdentity;
  if (has_tail && !IsFloat(spec.d.dtype)) {
    return Unimplemented("gemm: a bias or activation of ",
                         DTypeName(spec.d.dtype));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BlasProblem> ToBlasProblem(const GemmSpec& spec) {
  if (spec.batch < 0 || spec.m < 0 || spec.n < 0 || spec.k < 0) {
    return InvalidArgument("gemm: sizes ", spec.batch, " x ", spec.m, " x ",
                           spec.n, " x ", spec.k);
  }
  HAWSER_ASSIGN_OR_RETURN(const BlasMatrix a,
                          AsItLies("a", spec.a, spec.m, spec.k));
  HAWSER_ASSIGN_OR_RETURN(const BlasMatrix b,
                          AsItLies("b", spec.b, spec.k, spec.n));
  BlasProblem problem;
  HAWSER_ASSIGN_OR_RETURN(problem.d, AsItLies("d", spec.d, spec.m, spec.n));
  problem.c = problem.d;
  if (spec.has_c) {
    HAWSER_ASSIGN_OR_RETURN(problem.c, AsItLies("c", spec.c, spec.m, spec.n));
  }
  HAWSER_RETURN_IF_ERROR(CheckResults(spec, problem.d));
  const bool as_is = spec.d.column_major;
  problem.is_swapped = !as_is;
  problem.first = Used(a, spec.a.column_major, as_is);
  problem.second = Used(b, spec.b.column_major, as_is);
  if (problem.is_swapped) std::swap(problem.first, problem.second);
  return problem;
}

}  // namespace hawser::cuda
