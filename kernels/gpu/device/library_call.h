// LibraryCall: what a device's libraries are asked to compute, as plain data.
#ifndef HAWSER_KERNELS_GPU_DEVICE_LIBRARY_CALL_H_
#define HAWSER_KERNELS_GPU_DEVICE_LIBRARY_CALL_H_

#include <cstdint>
#include <variant>

#include "absl/container/inlined_vector.h"
#include "core/base/values/dtype.h"
#include "kernels/gpu/device/device_types.h"

namespace hawser::gpu {

// ---- matrix products ------------------------------------------------------

// Says how a matrix of `rows` x `columns` lies in memory. Row-major has
// neighbouring columns next to each other, column-major neighbouring rows, so a
// transposed operand is a layout and no copy.
struct MatrixLayout {
  DType dtype = DType::kF32;
  bool column_major = false;
  // Elements from one row (column-major: column) to the next; 0: no gap.
  int64_t leading = 0;
  // Elements from one matrix of the batch to the next; 0: all the same one.
  int64_t batch_stride = 0;

  bool operator==(const MatrixLayout&) const = default;
};

enum class GemmActivation : uint8_t { kIdentity, kRelu, kGeluTanh };
// kTf32: an f32 or c64 product may give up bits of its factors for speed.
enum class GemmPrecision : uint8_t { kFull, kTf32 };

// d[m, n] = activation(alpha * a[m, k] x b[k, n] + beta * c[m, n] + bias[n]),
// `batch` times. Halves are summed in f32 and rounded once; integers wrap.
// Operands: a, b, then c and bias where the spec has them. Result: d.
struct GemmSpec {
  int64_t batch = 1;
  int64_t m = 0, n = 0, k = 0;
  MatrixLayout a, b, d;
  // c has d's dtype; it may be d itself when their layouts are the same.
  bool has_c = false;
  MatrixLayout c;
  double alpha = 1, beta = 0;
  bool has_bias = false;  // of d's dtype, n elements, the same for the batch
  GemmActivation activation = GemmActivation::kIdentity;
  GemmPrecision precision = GemmPrecision::kFull;
  int64_t max_workspace_bytes = int64_t{32} << 20;
  // True if every address it is called with is a multiple of kAlignment.
  static constexpr int64_t kAlignment = 16;
  bool is_aligned = true;

  bool operator==(const GemmSpec&) const = default;
};

// ---- Fourier transforms ---------------------------------------------------

enum class FftKind : uint8_t {
  kForward,      // complex to complex, sums of x[j] e^(-2 pi i jk/n)
  kInverse,      // the same with e^(+2 pi i jk/n), not divided by n
  kRealForward,  // real numbers to the first half of the last axis
  kRealInverse,  // that half to real numbers, not divided by n
};

// `batch` transforms over arrays of `lengths`, which lie without gaps, last
// axis innermost. Of a real transform the complex side has lengths.back() / 2 +
// 1 elements there. kRealInverse takes what is the transform of real numbers,
// and may overwrite it.
struct FftSpec {
  FftKind kind = FftKind::kForward;
  DType complex = DType::kC64;              // of the complex side: c64 or c128
  absl::InlinedVector<int64_t, 3> lengths;  // 1 to 3, of the real side
  int64_t batch = 1;

  bool operator==(const FftSpec&) const = default;
};

// ---- linear algebra -------------------------------------------------------
// Matrices are row-major and without gaps, f32, f64, c64 or c128. Real numbers
// that come of complex matrices are f32 or f64.

// kCholesky: A -> factor, info. A = L L^H with `lower`, else U^H U; the
// factor's other triangle is unspecified. info, s32 for each matrix, is 0, or
// tells that it is not positive definite; then its factor is unspecified.
// kEigh: A -> w, v^H, info. A = v w v^H, w ascending. info is 0, or tells that
// the matrix did not converge. A is finite.
// Of A one triangle is read, and the real part of its diagonal.
// kLu: A^T, numbers -> packed, pivots, exchanged, info. numbers and exchanged
// are f64, `size` for each matrix. packed is (L - 1 + U)^T with P A = L U;
// pivots, s32 from 1, are the rows that each row was exchanged with in turn, as
// the numbers were. A is finite. info tells of a pivot of 0, if it is not 0.
enum class Factorization : uint8_t { kCholesky, kEigh, kLu };
struct FactorizationSpec {
  Factorization kind = Factorization::kCholesky;
  DType dtype = DType::kF32;
  int64_t batch = 1;
  int64_t size = 0;   // rows and columns
  bool lower = true;  // the triangle that is read

  bool operator==(const FactorizationSpec&) const = default;
};

// A^T -> packed, Q^T, with A = Q R. A is `rows` x `columns` and finite, Q
// `rows` x `q_columns`: at least min(rows, columns), at most `rows`. packed has
// the sizes of A^T; its lower triangle is R^T, with a real diagonal, the rest
// is unspecified.
struct QrSpec {
  DType dtype = DType::kF32;
  int64_t batch = 1;
  int64_t rows = 0, columns = 0, q_columns = 0;

  bool operator==(const QrSpec&) const = default;
};

// How a matrix is used.
enum class MatrixUse : uint8_t { kAsIs, kTransposed, kAdjoint };

// A, B -> X, with op(A) X = B or X op(A) = B; B and X are `rows` x `columns`.
struct TriangularSolveSpec {
  DType dtype = DType::kF32;
  int64_t batch = 1;
  int64_t rows = 0, columns = 0;
  bool left_side = true;  // op(A) X = B
  bool lower = true;      // the triangle of A that is read
  bool unit_diagonal = false;
  MatrixUse use = MatrixUse::kAsIs;  // op

  int64_t size() const { return left_side ? rows : columns; }  // of A
  bool operator==(const TriangularSolveSpec&) const = default;
};

// ---- convolutions ---------------------------------------------------------

// x has in features, y out features. kForward: x, w -> y. kData: w, y -> x,
// kFilter: x, y -> w: what the one tensor's gradient is, given y's.
enum class ConvolutionDirection : uint8_t { kForward, kData, kFilter };

// A spatial axis, of x, w and y elements: place k of w lies on element
// r * stride + k * dilation - padding of x for element r of y. What lies
// outside of x counts as 0, and y has every place where w fits.
struct ConvolutionAxis {
  int64_t x = 1, w = 1, y = 1;
  int64_t stride = 1, dilation = 1, padding = 0;

  bool operator==(const ConvolutionAxis&) const = default;
};

// y[b, r, o] is the sum of x[b, place, c] w[o, k, c] over the places k and the
// features c of o's group. Tensors lie without gaps: x [batch, axes..., in], w
// [out, axes..., in / groups], y [batch, axes..., out], or each with features
// in front of the axes. Halves are summed in f32 and rounded once.
struct ConvolutionSpec {
  ConvolutionDirection direction = ConvolutionDirection::kForward;
  DType dtype = DType::kF32;  // f16, bf16, f32 or f64
  GemmPrecision precision = GemmPrecision::kFull;
  bool features_first = false;
  int64_t batch = 1, groups = 1;
  int64_t in = 1, out = 1;                       // features, of all groups
  absl::InlinedVector<ConvolutionAxis, 3> axes;  // 1 to 3
  int64_t max_workspace_bytes = int64_t{1} << 30;

  bool operator==(const ConvolutionSpec&) const = default;
};

// ---- calls ----------------------------------------------------------------

using LibraryCall = std::variant<GemmSpec, FftSpec, FactorizationSpec,
                                 TriangularSolveSpec, QrSpec, ConvolutionSpec>;

// "library product", for logs and traces.
inline const char* NameOf(const LibraryCall& call) {
  constexpr const char* kNames[] = {
      "library product",          "library transform", "library factorization",
      "library triangular solve", "library QR",        "library convolution"};
  return kNames[call.index()];
}

// True if a call may wait for the device on the host, or reads memory of the
// host; such a call is never captured.
inline bool MayBlock(const LibraryCall& call) {
  const auto* solve = std::get_if<TriangularSolveSpec>(&call);
  return std::holds_alternative<FactorizationSpec>(call) ||
         std::holds_alternative<QrSpec>(call) ||
         (solve != nullptr && solve->batch > 1);
}

// In the order that the spec names them. No result overlaps an operand, but c
// of a product may be d.
struct CallOperands {
  absl::InlinedVector<DeviceAddress, 4> operands;
  absl::InlinedVector<DeviceAddress, 3> results;
  DeviceAddress workspace;  // of Device::WorkspaceBytes
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_DEVICE_LIBRARY_CALL_H_
