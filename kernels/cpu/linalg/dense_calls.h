// DenseCalls: what factorizations ask of a library, over row-major matrices, in
// calls of a few milliseconds with a look at the cancel token before each.
#ifndef HAWSER_KERNELS_CPU_LINALG_DENSE_CALLS_H_
#define HAWSER_KERNELS_CPU_LINALG_DENSE_CALLS_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/libraries/lapack.h"
#include "kernels/cpu/linalg/view.h"

namespace hawser::cpu {

// Steps of a product and its addition in the library's calls.
template <typename T>
inline constexpr double kLibraryProductSteps = (kIsComplexOf<T> ? 4.0 : 1.0) *
                                               sizeof(RealOf<T>) / 256;
// In own loops.
template <typename T>
inline constexpr double kOwnProductSteps = (kIsComplexOf<T> ? 4.0 : 1.0) *
                                           sizeof(RealOf<T>) / 16;

// The words of Fortran's interface that both know.
enum class Op : char { kNone = 'N', kTranspose = 'T', kAdjoint = 'C' };

// Not thread-safe: it has a meter. A row-major matrix is the transpose of what
// the library sees there, so sides and triangles are swapped on the way.
template <typename T>
class DenseCalls {
 public:
  DenseCalls(const LapackOf<T>& f, WorkMeter* meter) : f_(f), meter_(meter) {}

  // c -= op(a) op(b).
  absl::Status Subtract(View<T> c, Op op_a, View<const T> a, Op op_b,
                        View<const T> b) const {
    const int64_t depth = op_a == Op::kNone ? a.columns : a.rows;
    return ForTiles(c, depth, [&](View<T> tile, int64_t row, int64_t column) {
      const auto from_a = op_a == Op::kNone ? a.Block(row, 0, tile.rows, depth)
                                            : a.Block(0, row, depth, tile.rows);
      const auto from_b = op_b == Op::kNone
                              ? b.Block(0, column, depth, tile.columns)
                              : b.Block(column, 0, tile.columns, depth);
      Gemm(tile, op_a, from_a, op_b, from_b);
    });
  }

  // One triangle of c -= a a^H, or, of an adjoint, a^H a.
  absl::Status SubtractSquare(View<T> c, bool lower, Op op,
                              View<const T> a) const {
    const int64_t depth = op == Op::kNone ? a.columns : a.rows;
    for (int64_t at = 0; at < c.rows; at += kTile) {
      const int64_t n = std::min(kTile, c.rows - at);
      const int64_t rest = c.rows - at - n;
      const auto part = [&](int64_t begin, int64_t count) {
        return op == Op::kNone ? a.Block(begin, 0, count, depth)
                               : a.Block(0, begin, depth, count);
      };
      HAWSER_RETURN_IF_ERROR(Begin(n, n, depth));
      Herk(c.Block(at, at, n, n), lower, op, part(at, n));
      if (rest == 0) break;
      const View<const T> diagonal = part(at, n), others = part(at + n, rest);
      const Op first = op, second = op == Op::kNone ? Op::kAdjoint : Op::kNone;
      HAWSER_RETURN_IF_ERROR(lower ? Subtract(c.Block(at + n, at, rest, n),
                                              first, others, second, diagonal)
                                   : Subtract(c.Block(at, at + n, n, rest),
                                              first, diagonal, second, others));
    }
    return absl::OkStatus();
  }

  // b = op(a)^-1 b, or b op(a)^-1, with a triangle.
  absl::Status SolveTriangle(bool left, bool lower, Op op, bool unit,
                             View<const T> a, View<T> b) const {
    // Rows or columns that are solved for apart.
    const int64_t apart = left ? b.columns : b.rows;
    const auto step = std::max<int64_t>(
        static_cast<int64_t>(
            kCallProducts<T> /
            std::max<double>(
                static_cast<double>(a.rows) * static_cast<double>(a.rows), 1)),
        16);
    for (int64_t at = 0; at < apart; at += step) {
      const int64_t n = std::min(step, apart - at);
      HAWSER_RETURN_IF_ERROR(Begin(a.rows, a.rows, n));
      Trsm(left, lower, op, unit, a,
           left ? b.Block(0, at, b.rows, n) : b.Block(at, 0, n, b.columns));
    }
    return absl::OkStatus();
  }

  // The Cholesky factor of a small matrix; false: it is not positive definite.
  absl::StatusOr<bool> Cholesky(View<T> a, bool lower) const {
    HAWSER_RETURN_IF_ERROR(Begin(a.rows, a.rows, a.rows));
    const int n = Size(a.rows), stride = Size(a.stride);
    int info = 0;
    const LibraryCall call;
    f_.potrf(lower ? "U" : "L", &n, a.data, &stride, &info, 1);
    return info == 0;
  }

  // Factors columns, each a row of `columns`; pivots count from 1.
  absl::Status Lu(View<T> columns, int* pivots) const {
    HAWSER_RETURN_IF_ERROR(Begin(columns.columns, columns.rows, columns.rows));
    const int m = Size(columns.columns), n = Size(columns.rows);
    const int stride = Size(columns.stride);
    int info = 0;  // a pivot of 0 is none
    const LibraryCall call;
    f_.getrf(&m, &n, columns.data, &stride, pivots, &info);
    return absl::OkStatus();
  }

 private:
  // A call of so many products takes some 4 ms of f32, of a tile less than 1.
  template <typename U>
  static constexpr double kCallProducts = (1 << 22) / kLibraryProductSteps<U>;
  static constexpr int64_t kTile = 512;

  static int Size(int64_t n) { return static_cast<int>(n); }

  absl::Status Begin(int64_t m, int64_t n, int64_t k) const {
    return meter_->Begin(kLibraryProductSteps<T> * static_cast<double>(m) *
                         static_cast<double>(n) * static_cast<double>(k));
  }

  // Calls fn(tile, row, column) for tiles of c, which `depth` products make.
  template <typename Fn>
  absl::Status ForTiles(View<T> c, int64_t depth, Fn fn) const {
    const auto columns = std::max<int64_t>(
        static_cast<int64_t>(kCallProducts<T> / (static_cast<double>(kTile) *
                                                 std::max<double>(depth, 1))),
        16);
    for (int64_t i = 0; i < c.rows; i += kTile) {
      const int64_t m = std::min(kTile, c.rows - i);
      for (int64_t j = 0; j < c.columns; j += columns) {
        const int64_t n = std::min(columns, c.columns - j);
        HAWSER_RETURN_IF_ERROR(Begin(m, n, depth));
        fn(c.Block(i, j, m, n), i, j);
      }
    }
    return absl::OkStatus();
  }

  void Gemm(View<T> c, Op op_a, View<const T> a, Op op_b,
            View<const T> b) const {
    const int m = Size(c.rows), n = Size(c.columns);
    const int k = Size(op_a == Op::kNone ? a.columns : a.rows);
    const int lda = Size(a.stride), ldb = Size(b.stride), ldc = Size(c.stride);
    const char of_a = static_cast<char>(op_a), of_b = static_cast<char>(op_b);
    const T alpha = -1, beta = 1;
    const LibraryCall call;
    f_.gemm(&of_b, &of_a, &n, &m, &k, &alpha, b.data, &ldb, a.data, &lda, &beta,
            c.data, &ldc, 1, 1);
  }

  void Herk(View<T> c, bool lower, Op op, View<const T> a) const {
    const int n = Size(c.rows), lda = Size(a.stride), ldc = Size(c.stride);
    const int k = Size(op == Op::kNone ? a.columns : a.rows);
    const RealOf<T> alpha = -1, beta = 1;
    const char* const adjoint = kIsComplexOf<T> ? "C" : "T";
    const LibraryCall call;
    f_.herk(lower ? "U" : "L", op == Op::kNone ? adjoint : "N", &n, &k, &alpha,
            a.data, &lda, &beta, c.data, &ldc, 1, 1);
  }

  void Trsm(bool left, bool lower, Op op, bool unit, View<const T> a,
            View<T> b) const {
    const int m = Size(b.columns), n = Size(b.rows);
    const int lda = Size(a.stride), ldb = Size(b.stride);
    const char of_a = static_cast<char>(op);
    const T alpha = 1;
    const LibraryCall call;
    f_.trsm(left ? "R" : "L", lower ? "U" : "L", &of_a, unit ? "U" : "N", &m,
            &n, &alpha, a.data, &lda, b.data, &ldb, 1, 1, 1, 1);
  }

  const LapackOf<T>& f_;
  WorkMeter* const meter_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_DENSE_CALLS_H_
