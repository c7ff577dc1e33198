// Lapack: the few functions used of a LAPACK, and of the BLAS it stands on,
// that this machine may have: those of the library that products use.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_LAPACK_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_LAPACK_H_

#include <complex>
#include <cstddef>
#include <memory>

#include "absl/strings/string_view.h"

namespace hawser::cpu {

template <typename T>
struct RealPartOf {
  using Type = T;
};
template <typename R>
struct RealPartOf<std::complex<R>> {
  using Type = R;
};
template <typename T>
using RealOf = typename RealPartOf<T>::Type;

// The functions for elements of T, by the Fortran interface: matrices stand
// column by column, and the lengths of words follow in the end.
template <typename T>
struct LapackOf {
  using Real = RealOf<T>;
  using Word = const char*;
  using Int = const int*;

  void (*gemm)(Word trans_a, Word trans_b, Int m, Int n, Int k, const T* alpha,
               const T* a, Int lda, const T* b, Int ldb, const T* beta, T* c,
               Int ldc, size_t, size_t) = nullptr;
  // herk, of reals syrk.
  void (*herk)(Word uplo, Word trans, Int n, Int k, const Real* alpha,
               const T* a, Int lda, const Real* beta, T* c, Int ldc, size_t,
               size_t) = nullptr;
  void (*trsm)(Word side, Word uplo, Word trans, Word diag, Int m, Int n,
               const T* alpha, const T* a, Int lda, T* b, Int ldb, size_t,
               size_t, size_t, size_t) = nullptr;
  void (*potrf)(Word uplo, Int n, T* a, Int lda, int* info, size_t) = nullptr;
};

// Immutable and thread-safe. Every call runs on the calling thread alone.
class Lapack {
 public:
  // That of the library that FindBlas found; null where there is none, which
  // the log says, or where HAWSER_BLAS says "off".
  static const Lapack* OfProcess();
  // Null when the library at `path` is not there or lacks one of the functions.
  static std::unique_ptr<const Lapack> Open(absl::string_view path);

  template <typename T>
  const LapackOf<T>& Of() const;

 private:
  LapackOf<float> f32_;
  LapackOf<double> f64_;
  LapackOf<std::complex<float>> c64_;
  LapackOf<std::complex<double>> c128_;
};

template <>
inline const LapackOf<float>& Lapack::Of() const {
  return f32_;
}
template <>
inline const LapackOf<double>& Lapack::Of() const {
  return f64_;
}
template <>
inline const LapackOf<std::complex<float>>& Lapack::Of() const {
  return c64_;
}
template <>
inline const LapackOf<std::complex<double>>& Lapack::Of() const {
  return c128_;
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_LAPACK_H_
