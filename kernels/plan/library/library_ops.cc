#include "kernels/plan/library/library_ops.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace hawser::plan {
namespace {

// Adds the s32 of each matrix of `matrices`.
absl::StatusOr<Shapes> WithInfo(absl::StatusOr<Shapes> results,
                                const Shape& matrices) {
  HAWSER_RETURN_IF_ERROR(results);
  const Dims& dims = matrices.dims();
  results->push_back(
      Shape::Of(DType::kS32, Dims(dims.begin(), dims.end() - 2)));
  return results;
}

}  // namespace

absl::StatusOr<Shapes> InferLibraryCholesky(const InferContext& context) {
  return WithInfo(InferCholesky(context), context.operands[0]);
}

absl::StatusOr<Shapes> InferLibraryEigh(const InferContext& context) {
  return WithInfo(InferEigh(context), context.operands[0]);
}

absl::StatusOr<Shapes> InferLibraryQr(const InferContext& context) {
  const Shape& transposed = context.operands[0];
  Dims q = transposed.dims();
  q[q.size() - 2] = context.attributes.GetBool("full_matrices")
                        ? q.back()
                        : std::min(q.back(), q[q.size() - 2]);
  return Shapes{transposed, Shape::Of(transposed.dtype(), q)};
}

absl::StatusOr<Shapes> InferLibraryLu(const InferContext& context) {
  const Shape& numbers = context.operands[1];
  return WithInfo(Shapes{context.operands[0],
                         Shape::Of(DType::kS32, numbers.dims()), numbers},
                  context.operands[0]);
}

absl::StatusOr<Shapes> InferLibraryConvolution(const InferContext& context) {
  const auto dims = context.attributes.GetInts("result_dims");
  return Shapes{
      Shape::Of(context.operands[0].dtype(), Dims(dims.begin(), dims.end()))};
}

}  // namespace hawser::plan
