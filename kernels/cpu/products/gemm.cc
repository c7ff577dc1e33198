#include "kernels/cpu/products/gemm.h"

#include <algorithm>
#include <limits>

#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "kernels/cpu/products/byte_product.h"
#include "kernels/cpu/products/own_tile.h"

namespace hawser::cpu {
namespace {

// Tiles given to BLAS, of which one call takes some 4 ms, so that cores share
// and deadlines hold (measured: 0.013 ns a product of f32 by AVX-512, twice
// that of f64). Larger ones pack less: of 256 x 256 one in eight is lost, of
// 512 x 512 one in twenty; they are taken where there are enough of them for
// the cores.
constexpr int64_t kBlasProductBytes = int64_t{1} << 30;
constexpr int64_t kBlasRows = 256;
constexpr int64_t kBlasColumnBytes = 1024;
constexpr int64_t kEnoughTiles = 8;
// Tiles given to oneDNN: of about as long a call (0.024 ns a product without
// AMX), with the whole of k, as it rounds what a call leaves.
constexpr int64_t kDnnlProducts = int64_t{1} << 27;
constexpr int64_t kDnnlColumns = 64;
constexpr int64_t kDnnlDepth = int64_t{1} << 14;
// Rows of a matrix times a vector: as fast as memory.
constexpr int64_t kBlasVectorRows = 1024;
constexpr int64_t kBlasVectorDepth = 4096;
// Bytes of a result without products that are cleared at once.
constexpr int64_t kCleared = int64_t{1} << 20;
absl::Status RunTail(const GemmProblem& p, const GemmBox& box) {
  return p.tail == nullptr ? absl::OkStatus() : (*p.tail)(box);
}

absl::Status Clear(char* to, int64_t bytes, const Environment& environment) {
  for (int64_t at = 0; at < bytes; at += kCleared) {
    const int64_t n = std::min(kCleared, bytes - at);
    std::fill_n(to + at, n, '\0');
    HAWSER_RETURN_IF_ERROR(environment.Look(static_cast<double>(n)));
  }
  return absl::OkStatus();
}

// ---- BLAS -----------------------------------------------------------------

bool Fits(int64_t n) { return n <= std::numeric_limits<int>::max(); }

// How the interface describes a matrix of rows x columns.
struct BlasLayout {
  int trans;
  int leading;  // elements from one row (transposed: column) to the next
};

bool HasLayout(const Matrix& matrix) {
  return (matrix.column_stride == 1 && Fits(matrix.row_stride)) ||
         (matrix.row_stride == 1 && Fits(matrix.column_stride));
}

// The leading dimension must be at least the length of what it leads to, even
// where there is only one of it and the stride means nothing.
BlasLayout LayoutOf(const Matrix& matrix, int64_t rows, int64_t columns) {
  if (matrix.column_stride == 1) {
    return {Blas::kNoTrans,
            static_cast<int>(std::max(matrix.row_stride, columns))};
  }
  return {Blas::kTrans, static_cast<int>(std::max(matrix.column_stride, rows))};
}

// The sizes of one call.
struct CallSizes {
  int64_t rows, columns, depth = 1;
};

CallSizes CallSizesOf(const GemmProblem& p) {
  CallSizes sizes{kBlasRows, kBlasColumnBytes / ByteWidth(p.dtype)};
  const auto tiles = [&](int64_t rows, int64_t columns) {
    return p.batches * ((p.m + rows - 1) / rows) *
           ((p.n + columns - 1) / columns);
  };
  if (tiles(sizes.rows, 2 * sizes.columns) >= kEnoughTiles) sizes.columns *= 2;
  if (tiles(2 * sizes.rows, sizes.columns) >= 2 * kEnoughTiles) sizes.rows *= 2;
  // A complex product is four.
  const int64_t width = ByteWidth(p.dtype) * (IsComplex(p.dtype) ? 2 : 1);
  sizes.depth = kBlasProductBytes / (width * sizes.rows * sizes.columns);
  return sizes;
}

template <typename T>
constexpr T kNone = T{0};
template <typename T>
constexpr T kOne = T{1};

template <typename T>
absl::Status GemmTiles(const GemmProblem& p, const Environment& environment,
                       Blas::Gemm<T> gemm) {
  using Factor = Blas::FactorOf<T>;
  const CallSizes sizes = CallSizesOf(p);
  return ForGemmTiles(
      p, environment, sizes.rows, sizes.columns,
      [&](const GemmBox& t) -> absl::Status {
        T* c = reinterpret_cast<T*>(p.c) + (t.batch * p.m + t.row) * p.n +
               t.column;
        for (int64_t k = 0; k < p.k; k += sizes.depth) {
          const int64_t depth = std::min(sizes.depth, p.k - k);
          const BlasLayout a = LayoutOf(p.a, t.rows, depth);
          const BlasLayout b = LayoutOf(p.b, depth, t.columns);
          const LibraryCall call;
          gemm(Blas::kRowMajor, a.trans, b.trans, static_cast<int>(t.rows),
               static_cast<int>(t.columns), static_cast<int>(depth),
               Factor::Of(kOne<T>), p.a.At<T>(t.batch, t.row, k), a.leading,
               p.b.At<T>(t.batch, k, t.column), b.leading,
               Factor::Of(k == 0 ? kNone<T> : kOne<T>), c,
               static_cast<int>(p.n));
          HAWSER_RETURN_IF_ERROR(environment.Look(
              GemmSteps(p.dtype) * ProductsOf(t.rows, t.columns, depth)));
        }
        return absl::OkStatus();
      });
}

// n = 1: each result is a row of a times the vector b.
template <typename T>
absl::Status GemvTiles(const GemmProblem& p, const Environment& environment,
                       Blas::Gemv<T> gemv) {
  using Factor = Blas::FactorOf<T>;
  const bool plain = p.a.column_stride == 1;
  return ForGemmTiles(
      p, environment, kBlasVectorRows, 1,
      [&](const GemmBox& t) -> absl::Status {
        T* c = reinterpret_cast<T*>(p.c) + t.batch * p.m + t.row;
        for (int64_t k = 0; k < p.k; k += kBlasVectorDepth) {
          const int64_t depth = std::min(kBlasVectorDepth, p.k - k);
          const BlasLayout a = LayoutOf(p.a, t.rows, depth);
          const LibraryCall call;
          gemv(Blas::kRowMajor, a.trans,
               static_cast<int>(plain ? t.rows : depth),
               static_cast<int>(plain ? depth : t.rows), Factor::Of(kOne<T>),
               p.a.At<T>(t.batch, t.row, k), a.leading,
               p.b.At<T>(t.batch, k, 0), static_cast<int>(p.b.row_stride),
               Factor::Of(k == 0 ? kNone<T> : kOne<T>), c, 1);
          HAWSER_RETURN_IF_ERROR(
              environment.Look(ProductsOf(t.rows, 1, depth)));
        }
        return absl::OkStatus();
      });
}

Matrix Transposed(Matrix matrix) {
  std::swap(matrix.row_stride, matrix.column_stride);
  return matrix;
}

template <typename T>
absl::Status RunBlas(GemmProblem p, const Environment& environment,
                     Blas::Gemm<T> gemm, Blas::Gemv<T> gemv) {
  GemmTail transposed;
  if (p.m == 1) {  // the same as the transposed matrix times a vector
    if (p.tail != nullptr) {
      transposed = [tail = p.tail](const GemmBox& b) {
        return (*tail)({b.batch, b.column, b.columns, b.row, b.rows});
      };
      p.tail = &transposed;
    }
    std::swap(p.m, p.n);
    std::swap(p.a, p.b);
    p.a = Transposed(p.a);
    p.b = Transposed(p.b);
  }
  TraceSpan span("run", p.n == 1 ? "library gemv" : "library gemm");
  span.Add("lanes", 2 * p.batches * p.m * p.n * p.k);
  return p.n == 1 ? GemvTiles<T>(p, environment, gemv)
                  : GemmTiles<T>(p, environment, gemm);
}

// ---- complex numbers ------------------------------------------------------

template <typename T>
bool HasNaN(const GemmProblem& p, const GemmBox& t) {
  for (int64_t i = 0; i < t.rows; ++i) {
    const T* const row = reinterpret_cast<const T*>(p.c) +
                         (t.batch * p.m + t.row + i) * p.n + t.column;
    bool any = false;
    for (int64_t j = 0; j < t.columns; ++j) any |= row[j] != row[j];
    if (any) return true;
  }
  return false;
}

// A library multiplies its sums by 1 + 0 i at last, which makes NaN of infinite
// ones: boxes with NaN are computed anew by own loops.
template <typename T>
absl::Status RunComplex(const GemmProblem& p, const Environment& environment,
                        Blas::Gemm<T> gemm, Blas::Gemv<T> gemv) {
  const GemmTail checked = [&](const GemmBox& t) -> absl::Status {
    if (HasNaN<T>(p, t)) {
      for (int64_t r = 0; r < t.rows; r += kOwnRows) {
        for (int64_t c = 0; c < t.columns; c += kOwnColumns) {
          HAWSER_RETURN_IF_ERROR(
              RunOwnTile(p,
                         {t.batch, t.row + r, std::min(kOwnRows, t.rows - r),
                          t.column + c, std::min(kOwnColumns, t.columns - c)},
                         environment));
        }
      }
    }
    return RunTail(p, t);
  };
  GemmProblem by_library = p;
  by_library.tail = &checked;
  return RunBlas(by_library, environment, gemm, gemv);
}

// ---- halves by way of f32 -------------------------------------------------

bool IsLargeEnough(const GemmProblem& p) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  return IsWorthConverting(m * n * k, m * k + k * n + m * n);
}

// rows x columns of every batch as f32 in `storage`, in the order of memory.
template <typename T>
absl::Status Widen(const GemmProblem& p, const Matrix& from, int64_t rows,
                   int64_t columns, const Environment& environment,
                   Literal* storage, Matrix* to) {
  const bool by_rows = from.column_stride == 1;
  const int64_t runs = by_rows ? rows : columns;
  const int64_t n = by_rows ? columns : rows;
  const int64_t pitch = by_rows ? from.row_stride : from.column_stride;
  HAWSER_ASSIGN_OR_RETURN(
      *storage,
      environment.allocator->Allocate(
          Shape::Of(DType::kF32, {p.batches * runs * n}), environment.memory));
  *to = {storage->bytes().data(), runs * n, by_rows ? n : 1, by_rows ? 1 : n};
  auto* const all = reinterpret_cast<float*>(storage->mutable_bytes().data());
  const auto* const first = reinterpret_cast<const T*>(from.data);
  return ForEachBlock(
      environment.pool, p.batches * runs, environment.cancel, [&](int64_t r) {
        const T* in = first + r / runs * from.batch_stride + r % runs * pitch;
        float* out = all + r * n;
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(in[i]);
        return environment.Look(static_cast<double>(n));
      });
}

bool SuitsDnnl(const GemmProblem& p, const Libraries& libraries) {
  return p.dtype == DType::kBF16 && libraries.dnnl != nullptr &&
         p.k <= kDnnlDepth;
}

absl::Status RunDnnl(const GemmProblem& p, const Environment& environment,
                     const Dnnl& dnnl) {
  TraceSpan span("run", "library product of bf16");
  span.Add("lanes", 2 * p.batches * p.m * p.n * p.k);
  const auto columns =
      std::max<int64_t>(kDnnlColumns, kDnnlProducts / (kBlasRows * p.k) /
                                          kDnnlColumns * kDnnlColumns);
  return ForGemmTiles(
      p, environment, kBlasRows, columns,
      [&](const GemmBox& t) -> absl::Status {
        const BFloat16* a = p.a.At<BFloat16>(t.batch, t.row, 0);
        const BFloat16* b = p.b.At<BFloat16>(t.batch, 0, t.column);
        char* const c = p.c + ((t.batch * p.m + t.row) * p.n + t.column) *
                                  ByteWidth(p.dtype);
        HAWSER_RETURN_IF_ERROR(dnnl.Multiply(
            {DType::kBF16, DType::kBF16, p.dtype}, t.rows, t.columns, p.k,
            {a, p.a.row_stride, p.a.column_stride},
            {b, p.b.row_stride, p.b.column_stride}, c, p.n));
        return environment.Look(GemmSteps(DType::kBF16) *
                                ProductsOf(t.rows, t.columns, p.k));
      });
}

// Sums in f32, rounded once, as own loops do. Errors: as RunGemm, and
// kResourceExhausted.
template <typename T>
absl::Status RunHalves(const GemmProblem& p, const Environment& environment,
                       const Blas& blas) {
  Literal a, b;
  GemmProblem wide = p;
  wide.dtype = DType::kF32;
  HAWSER_RETURN_IF_ERROR(Widen<T>(p, p.a, p.m, p.k, environment, &a, &wide.a));
  HAWSER_RETURN_IF_ERROR(Widen<T>(p, p.b, p.k, p.n, environment, &b, &wide.b));
  HAWSER_ASSIGN_OR_RETURN(
      Literal c,
      environment.allocator->Allocate(
          Shape::Of(DType::kF32, {p.batches * p.m * p.n}), environment.memory));
  wide.c = c.mutable_bytes().data();
  const auto* const sums = reinterpret_cast<const float*>(wide.c);
  auto* const out = reinterpret_cast<T*>(p.c);
  const GemmTail rounded = [&](const GemmBox& t) -> absl::Status {
    for (int64_t r = 0; r < t.rows; ++r) {
      const int64_t first = (t.batch * p.m + t.row + r) * p.n + t.column;
      for (int64_t i = first; i < first + t.columns; ++i) {
        out[i] = static_cast<T>(sums[i]);
      }
    }
    HAWSER_RETURN_IF_ERROR(
        environment.Look(static_cast<double>(t.rows * t.columns)));
    return RunTail(p, t);
  };
  wide.tail = &rounded;
  return RunBlas(wide, environment, blas.sgemm, blas.sgemv);
}

}  // namespace

bool TakesFactors(const GemmProblem& p, const Environment& environment,
                  const Libraries& libraries) {
  if (!TakesFactors(p.factors, p.dtype, libraries)) return false;
  if (!IsLargeEnough(p) || !Fits(p.n)) return false;
  if (p.factors != DType::kBF16) {
    return environment.allocator != nullptr && IsWorthBytes(p);
  }
  return environment.numerics == runtime::Numerics::kFast && p.k <= kDnnlDepth;
}

absl::Status ForGemmTiles(const GemmProblem& p, const Environment& environment,
                          int64_t rows, int64_t columns,
                          absl::FunctionRef<absl::Status(const GemmBox&)> fn) {
  const int64_t down = (p.m + rows - 1) / rows;
  const int64_t along = (p.n + columns - 1) / columns;
  // Small products are not worth another thread.
  const double work = static_cast<double>(p.batches) * p.m * p.n * p.k;
  ThreadPool* pool = work < (1 << 20) ? nullptr : environment.pool;
  return ForEachBlock(
      pool, p.batches * down * along, environment.cancel, [&](int64_t i) {
        const int64_t row = i / along % down * rows;
        const int64_t column = i % along * columns;
        const GemmBox box{i / along / down, row, std::min(rows, p.m - row),
                          column, std::min(columns, p.n - column)};
        HAWSER_RETURN_IF_ERROR(fn(box));
        return RunTail(p, box);
      });
}

absl::Status RunGemm(const GemmProblem& p, const Environment& environment,
                     const Libraries& libraries) {
  if (p.batches == 0 || p.m == 0 || p.n == 0) return absl::OkStatus();
  if (p.k == 0) {
    HAWSER_RETURN_IF_ERROR(
        Clear(p.c, p.batches * p.m * p.n * ByteWidth(p.dtype), environment));
    return ForGemmTiles(p, environment, p.m, p.n,
                        [](const GemmBox&) { return absl::OkStatus(); });
  }
  if (p.factors != DType::kInvalid && p.factors != p.dtype) {
    return p.factors == DType::kBF16
               ? RunDnnl(p, environment, *libraries.dnnl)
               : RunByteProduct(p, environment, *libraries.bytes);
  }
  const Blas* blas = libraries.blas;
  const bool suits =
      blas != nullptr && HasLayout(p.a) && HasLayout(p.b) && Fits(p.n);
  if (suits && p.dtype == DType::kF32) {
    return RunBlas(p, environment, blas->sgemm, blas->sgemv);
  }
  if (suits && p.dtype == DType::kF64) {
    return RunBlas(p, environment, blas->dgemm, blas->dgemv);
  }
  if (suits && environment.numerics == runtime::Numerics::kFast) {
    if (p.dtype == DType::kC64) {
      return RunComplex(p, environment, blas->cgemm, blas->cgemv);
    }
    if (p.dtype == DType::kC128) {
      return RunComplex(p, environment, blas->zgemm, blas->zgemv);
    }
  }
  return VisitDType(p.dtype, [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    if constexpr (kIsHalf<T>) {
      const bool by_library =
          environment.numerics == runtime::Numerics::kFast && HasLayout(p.a) &&
          HasLayout(p.b) && IsLargeEnough(p);
      if (by_library && SuitsDnnl(p, libraries)) {
        return RunDnnl(p, environment, *libraries.dnnl);
      }
      if (by_library && suits && environment.allocator != nullptr) {
        const absl::Status status = RunHalves<T>(p, environment, *blas);
        if (!absl::IsResourceExhausted(status)) return status;
      }
    }
    return ForGemmTiles(
        p, environment, kOwnRows, kOwnColumns,
        [&](const GemmBox& t) { return RunOwnTile(p, t, environment); });
  });
}

}  // namespace hawser::cpu
