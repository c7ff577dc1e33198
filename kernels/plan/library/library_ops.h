// The instructions that are calls of a device's library. A planner alone makes
// them: they are in no registry.
#ifndef HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_OPS_H_
#define HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_OPS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/ir/op_def.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/windows/convolution.h"

namespace hawser::plan {

absl::StatusOr<Shapes> InferLibraryCholesky(const InferContext& context);
absl::StatusOr<Shapes> InferLibraryEigh(const InferContext& context);
absl::StatusOr<Shapes> InferLibraryLu(const InferContext& context);
absl::StatusOr<Shapes> InferLibraryQr(const InferContext& context);
absl::StatusOr<Shapes> InferLibraryConvolution(const InferContext& context);

// Returns the row of an op as a library computes it, with the op's attributes.
constexpr OpDef LibraryOp(OpDef row, absl::string_view name, ShapeRule infer) {
  row.name = name;
  row.infer = infer;
  return row;
}

// The op, but for the inverses: they are sums, not divided by n, and their
// operand is no longer what it was. IRFFT takes the transform of real numbers.
inline constexpr OpDef kLibraryFft = LibraryOp(kFft, "library_fft", InferFft);
// The factor, of which the other triangle may be anything; for each matrix an
// s32 that is 0 where it is positive definite, as far as the library noticed.
inline constexpr OpDef kLibraryCholesky =
    LibraryOp(kCholesky, "library_cholesky", InferLibraryCholesky);
// The op itself.
inline constexpr OpDef kLibraryTriangularSolve = LibraryOp(
    kTriangularSolve, "library_triangular_solve", InferTriangularSolve);
// The eigenvalues, the adjoint of the eigenvectors, and for each matrix an s32
// that is 0 where it converged. The matrices are finite.
inline constexpr OpDef kLibraryEigh =
    LibraryOp(kEigh, "library_eigh", InferLibraryEigh);
// Takes the transposes of square, finite matrices, and f64 numbers for each of
// their rows. Gives the packed factors, transposed; the pivots, from 1; the
// numbers, exchanged as the rows are; for each matrix an s32.
inline constexpr OpDef kLibraryLu = [] {
  OpDef row = LibraryOp(kLu, "library_lu", InferLibraryLu);
  row.arity = {2, 2};
  return row;
}();

// Takes the transposes of finite matrices. Gives R^T in their lower triangle,
// the rest of which may be anything, and Q^T.
inline constexpr OpDef kLibraryQr =
    LibraryOp(kQr, "library_qr", InferLibraryQr);

// x [batch, spatial..., features], w [out, spatial..., features / groups] and y
// [batch, spatial..., out], or each with its features in front of the spatial
// axes. Gives y of x and w; x of w and y ("data"), or w of x and y ("filter"),
// as gradients of the former.
inline constexpr absl::string_view kForwardConvolution = "forward";
inline constexpr absl::string_view kDataConvolution = "data";
inline constexpr absl::string_view kFilterConvolution = "filter";
inline constexpr AttributeSpec kLibraryConvolutionAttributes[] = {
    {"direction", AttributeKind::kString, true, "forward, data or filter"},
    {"feature_group_count", AttributeKind::kInt, true, "groups of features"},
    {"features_first", AttributeKind::kBool, true,
     "the features stand in front of the spatial axes"},
    {"padding", AttributeKind::kInts, true, "zeros around x, on either side"},
    {"result_dims", AttributeKind::kInts, true, "the sizes of the result"},
    {"rhs_dilation", AttributeKind::kInts, true,
     "steps between places of the kernel"},
    {"window_strides", AttributeKind::kInts, true,
     "steps between places where it is laid"},
};
inline constexpr OpDef kLibraryConvolution = [] {
  OpDef row =
      LibraryOp(kConvolution, "library_convolution", InferLibraryConvolution);
  row.attributes = kLibraryConvolutionAttributes;
  row.part = kWholePart;
  row.split = nullptr;
  return row;
}();

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_OPS_H_
