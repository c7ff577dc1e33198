// Batches of matrix products, in tiles whose sizes depend on the shapes alone.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_GEMM_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_GEMM_H_

#include <cstdint>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/base/values/dtype.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/libraries/libraries.h"

namespace hawser::cpu {

// Element (batch, row, column) stands at the sum of index times stride.
struct Matrix {
  const char* data = nullptr;
  int64_t batch_stride = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 0;

  template <typename T>
  const T* At(int64_t batch, int64_t row, int64_t column) const {
    return reinterpret_cast<const T*>(data) + batch * batch_stride +
           row * row_stride + column * column_stride;
  }
};

// Rows and columns of one of the products.
struct GemmBox {
  int64_t batch = 0;
  int64_t row = 0, rows = 0;
  int64_t column = 0, columns = 0;
};
// Processes a finished box, on the thread that made it.
using GemmTail = std::function<absl::Status(const GemmBox&)>;

// c[batch][m][n], dense, = a[batch][m][k] times b[batch][k][n].
struct GemmProblem {
  DType dtype;
  // The dtype of a and b, if it is narrower than `dtype` (TakesFactors).
  DType factors = DType::kInvalid;
  int64_t batches = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Matrix a;
  Matrix b;
  char* c = nullptr;
  // Is given boxes that together are all of c, each once; null: nothing is.
  const GemmTail* tail = nullptr;
};

// Steps of one product and its addition, in a product of large matrices of fast
// numerics.
double GemmSteps(DType dtype);
// The same of narrower factors that RunGemm takes as they are.
double GemmSteps(DType factors, DType dtype);
// True if so many products pay for a pass over so many elements of factors and
// result.
bool IsWorthConverting(double products, double elements);
// The products of an m by k matrix with a k by n one.
inline double ProductsOf(int64_t m, int64_t n, int64_t k) {
  return static_cast<double>(m) * static_cast<double>(n) *
         static_cast<double>(k);
}

// True if a library multiplies large matrices of `factors` to a wider `dtype`:
// bf16 to f32 by oneDNN, bytes to 32 bits where it is exact.
bool TakesFactors(DType factors, DType dtype, const Libraries& libraries);
// The same of a problem: its numerics allow that, and it is worth a call.
bool TakesFactors(const GemmProblem& problem, const Environment& environment,
                  const Libraries& libraries);

// Calls fn(box) for all boxes of the result, of at most `rows` x `columns`, and
// gives each to the tail. Errors: the token's, those of fn and the tail.
absl::Status ForGemmTiles(const GemmProblem& problem,
                          const Environment& environment, int64_t rows,
                          int64_t columns,
                          absl::FunctionRef<absl::Status(const GemmBox&)> fn);

// f32 and f64, and complex numbers in fast numerics, go to a library's BLAS
// unless it has none or the strides do not suit it (one of each matrix's must
// be 1). f16 and bf16 accumulate in f32 and are rounded once: in fast numerics,
// where that is worth it, bf16 by oneDNN, others by way of f32 in memory of its
// own if there is memory. Integers wrap. Checks the environment's token for
// each tile. Errors: the token's, the tail's.
absl::Status RunGemm(const GemmProblem& problem, const Environment& environment,
                     const Libraries& libraries);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_GEMM_H_
