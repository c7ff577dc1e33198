// Blas: the few functions used of a BLAS that this machine may have, found at
// run time, so that nothing needs one to start.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_BLAS_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_BLAS_H_

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace hawser::cpu {

// The C interface with 32-bit integers. Every call runs on the calling thread
// alone: a library's own threads would change the bits of results.
struct Blas {
  // Values of the interface's enums.
  static constexpr int kRowMajor = 101;
  static constexpr int kNoTrans = 111;
  static constexpr int kTrans = 112;

  template <typename T>
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n,
                        int k, T alpha, const T* a, int lda, const T* b,
                        int ldb, T beta, T* c, int ldc);
  template <typename T>
  using Gemv = void (*)(int order, int trans, int m, int n, T alpha,
                        const T* a, int lda, const T* x, int incx, T beta,
                        T* y, int incy);

  std::string path;
  std::string name;  // "OpenBLAS 0.3.21 Haswell"; of others the path
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  Gemv<float> sgemv = nullptr;
  Gemv<double> dgemv = nullptr;
};

// Opens the library at `path`; nullptr when it is not there or lacks one of
// the functions. The library stays open for ever.
std::unique_ptr<const Blas> OpenBlas(absl::string_view path);

// The library that HAWSER_BLAS (a path, or "off") or else the usual names give;
// decided once, with one line in the log when there is none. nullptr: own
// loops.
const Blas* FindBlas();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_BLAS_H_
