#include "kernels/cpu/products/byte_product.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/status.h"
#include "core/base/trace/trace.h"

namespace hawser::cpu {
namespace {

// A call takes some 2 ms: so many products, with the whole of k.
constexpr int64_t kProducts = int64_t{1} << 29;
constexpr int64_t kRows = 256, kColumns = 64, kMostColumns = 1024;
constexpr int64_t kMostDepth = int64_t{1} << 16;
// Fewer products are as fast by own loops: a call takes some 20 us besides.
constexpr int64_t kFewProducts = int64_t{1} << 17;
// Lines whose sums one block makes.
constexpr int64_t kLines = 256;

constexpr uint32_t kTurned = 128;

// One factor as lines along which k runs: rows of a, columns of b.
struct Lines {
  const Matrix& matrix;
  int64_t count;
  int64_t line_stride, k_stride;

  const char* At(int64_t batch, int64_t line, int64_t k) const {
    return matrix.data + batch * matrix.batch_stride + line * line_stride +
           k * k_stride;
  }
};

absl::StatusOr<Literal> Allocate(const Environment& environment, DType dtype,
                                 int64_t n) {
  return environment.allocator->Allocate(Shape::Of(dtype, {n}),
                                         environment.memory);
}

// sums[batch][line] = 128 times the line's sum of bytes of type T.
template <typename T>
absl::Status SumLines(const GemmProblem& p, const Lines& lines,
                      const Environment& environment, uint32_t* sums) {
  const int64_t blocks = (lines.count + kLines - 1) / kLines;
  return ForEachBlock(
      environment.pool, p.batches * blocks, environment.cancel, [&](int64_t i) {
        const int64_t batch = i / blocks, first = i % blocks * kLines;
        const int64_t n = std::min(kLines, lines.count - first);
        uint32_t* const to = sums + batch * lines.count + first;
        std::fill_n(to, n, 0);
        if (lines.k_stride == 1) {
          for (int64_t l = 0; l < n; ++l) {
            const char* const in = lines.At(batch, first + l, 0);
            uint32_t sum = 0;
            for (int64_t k = 0; k < p.k; ++k) sum += static_cast<T>(in[k]);
            to[l] = sum;
          }
        } else {
          for (int64_t k = 0; k < p.k; ++k) {
            const char* const in = lines.At(batch, first, k);
            for (int64_t l = 0; l < n; ++l) to[l] += static_cast<T>(in[l]);
          }
        }
        for (int64_t l = 0; l < n; ++l) to[l] *= kTurned;
        return environment.Look(static_cast<double>(n * p.k));
      });
}

// The factor with its sign bits turned, in `storage`, in the order of memory.
absl::StatusOr<Matrix> Turned(const GemmProblem& p, const Lines& lines,
                              const Environment& environment,
                              Literal* storage) {
  const bool by_lines = lines.k_stride == 1;
  const int64_t runs = by_lines ? lines.count : p.k;
  const int64_t n = by_lines ? p.k : lines.count;
  HAWSER_ASSIGN_OR_RETURN(
      *storage, Allocate(environment, DType::kU8, p.batches * runs * n));
  char* const to = storage->mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(ForEachBlock(
      environment.pool, p.batches * ((runs + kLines - 1) / kLines),
      environment.cancel, [&](int64_t block) {
        const int64_t blocks = (runs + kLines - 1) / kLines;
        const int64_t batch = block / blocks, first = block % blocks * kLines;
        const int64_t last = std::min(first + kLines, runs);
        for (int64_t r = first; r < last; ++r) {
          const char* const in =
              by_lines ? lines.At(batch, r, 0) : lines.At(batch, 0, r);
          char* const out = to + (batch * runs + r) * n;
          for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<char>(in[i] ^ static_cast<char>(kTurned));
          }
        }
        return environment.Look(static_cast<double>((last - first) * n));
      }));
  const bool is_a = &lines.matrix == &p.a;
  return Matrix{to, runs * n, by_lines == is_a ? n : 1,
                by_lines == is_a ? 1 : n};
}

// The library's product of u8 by s8, then what the turned bits are worth: taken
// from each column where a was turned, added to each row where b was.
absl::Status Multiply(const GemmProblem& p, const Matrix& a, const Matrix& b,
                      const uint32_t* sums, const Environment& environment,
                      const Dnnl& dnnl) {
  const bool turned_a = p.factors == DType::kS8;
  const int64_t columns =
      std::clamp(kProducts / (kRows * p.k) / kColumns * kColumns, kColumns,
                 kMostColumns / 2);
  return ForGemmTiles(
      p, environment, kRows, columns, [&](const GemmBox& t) -> absl::Status {
        auto* const c = reinterpret_cast<uint32_t*>(p.c) +
                        (t.batch * p.m + t.row) * p.n + t.column;
        HAWSER_RETURN_IF_ERROR(dnnl.Multiply(
            {DType::kU8, DType::kS8, DType::kS32}, t.rows, t.columns, p.k,
            {a.At<char>(t.batch, t.row, 0), a.row_stride, a.column_stride},
            {b.At<char>(t.batch, 0, t.column), b.row_stride, b.column_stride},
            c, p.n));
        for (int64_t i = 0; i < t.rows; ++i) {
          uint32_t* const row = c + i * p.n;
          if (turned_a) {
            const uint32_t* const by = sums + t.batch * p.n + t.column;
            for (int64_t j = 0; j < t.columns; ++j) row[j] -= by[j];
          } else {
            const uint32_t by = sums[t.batch * p.m + t.row + i];
            for (int64_t j = 0; j < t.columns; ++j) row[j] += by;
          }
        }
        return environment.Look(kByteProductSteps *
                                    ProductsOf(t.rows, t.columns, p.k) +
                                static_cast<double>(t.rows * t.columns));
      });
}

}  // namespace

bool IsWorthBytes(const GemmProblem& p) {
  return p.k <= kMostDepth && ProductsOf(p.m, p.n, p.k) >= kFewProducts;
}

absl::Status RunByteProduct(const GemmProblem& p,
                            const Environment& environment, const Dnnl& dnnl) {
  TraceSpan span("run", "library product of bytes");
  span.Add("lanes", 2 * p.batches * p.m * p.n * p.k);
  const Lines rows = {p.a, p.m, p.a.row_stride, p.a.column_stride};
  const Lines columns = {p.b, p.n, p.b.column_stride, p.b.row_stride};
  const bool turns_a = p.factors == DType::kS8;
  Literal storage;
  HAWSER_ASSIGN_OR_RETURN(
      const Matrix turned,
      Turned(p, turns_a ? rows : columns, environment, &storage));
  const Lines& summed = turns_a ? columns : rows;
  HAWSER_ASSIGN_OR_RETURN(Literal sums, Allocate(environment, DType::kU32,
                                                 p.batches * summed.count));
  auto* const by = reinterpret_cast<uint32_t*>(sums.mutable_bytes().data());
  HAWSER_RETURN_IF_ERROR(turns_a
                             ? SumLines<int8_t>(p, summed, environment, by)
                             : SumLines<uint8_t>(p, summed, environment, by));
  return Multiply(p, turns_a ? turned : p.a, turns_a ? p.b : turned, by,
                  environment, dnnl);
}

}  // namespace hawser::cpu
