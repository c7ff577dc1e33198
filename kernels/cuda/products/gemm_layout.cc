#include "kernels/cuda/products/gemm_layout.h"

#include <utility>

#include "core/base/status.h"
#include "kernels/gpu/device/gemm_check.h"

namespace hawser::cuda {
namespace {

using gpu::GemmSpec;
using gpu::MatrixLayout;

// A `rows` x `columns` matrix of the spec as a column-major one. For a
// row-major matrix this is its transpose.
BlasMatrix AsItLies(const MatrixLayout& layout, int64_t rows, int64_t columns) {
  return {.dtype = layout.dtype,
          .rows = layout.column_major ? rows : columns,
          .columns = layout.column_major ? columns : rows,
          .leading = gpu::LeadingOf(layout, rows, columns),
          .batch_stride = layout.batch_stride};
}

// The matrix with is_transposed set so that its value is that of the spec's
// matrix (`as_is`) or of its transpose.
BlasMatrix Used(BlasMatrix matrix, bool column_major, bool as_is) {
  matrix.is_transposed = column_major != as_is;
  return matrix;
}

}  // namespace

absl::StatusOr<BlasProblem> ToBlasProblem(const GemmSpec& spec) {
  HAWSER_RETURN_IF_ERROR(gpu::CheckGemm(spec));
  const BlasMatrix a = AsItLies(spec.a, spec.m, spec.k);
  const BlasMatrix b = AsItLies(spec.b, spec.k, spec.n);
  BlasProblem problem;
  problem.d = AsItLies(spec.d, spec.m, spec.n);
  problem.c = spec.has_c ? AsItLies(spec.c, spec.m, spec.n) : problem.d;
  const bool as_is = spec.d.column_major;
  problem.is_swapped = !as_is;
  problem.first = Used(a, spec.a.column_major, as_is);
  problem.second = Used(b, spec.b.column_major, as_is);
  if (problem.is_swapped) std::swap(problem.first, problem.second);
  return problem;
}

}  // namespace hawser::cuda
