// Blas: the few functions used of a BLAS that this machine may have, found at
// run time, so that nothing needs one to start.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_BLAS_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_BLAS_H_

#include <complex>
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

  // Complex factors are given by address.
  template <typename T>
  struct FactorOf {
    using Type = T;
    static T Of(const T& value) { return value; }
  };
  template <typename T>
  struct FactorOf<std::complex<T>> {
    using Type = const std::complex<T>*;
    static Type Of(const std::complex<T>& value) { return &value; }
  };
  template <typename T>
  using Factor = typename FactorOf<T>::Type;

  template <typename T>
  using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n,
                        int k, Factor<T> alpha, const T* a, int lda, const T* b,
                        int ldb, Factor<T> beta, T* c, int ldc);
  template <typename T>
  using Gemv = void (*)(int order, int trans, int m, int n, Factor<T> alpha,
                        const T* a, int lda, const T* x, int incx,
                        Factor<T> beta, T* y, int incy);

  std::string path;
  std::string name;  // "OpenBLAS 0.3.21 Haswell"; of others the path
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  Gemm<std::complex<float>> cgemm = nullptr;
  Gemm<std::complex<double>> zgemm = nullptr;
  Gemv<float> sgemv = nullptr;
  Gemv<double> dgemv = nullptr;
  Gemv<std::complex<float>> cgemv = nullptr;
  Gemv<std::complex<double>> zgemv = nullptr;
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
