// Lapack: the few functions used of a LAPACK, and of the BLAS it stands on,
// that this machine may have: those of the library that products use.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_LAPACK_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_LAPACK_H_

#include <complex>
#include <cstddef>
#include <memory>
#include <type_traits>

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
  void (*getrf)(Int m, Int n, T* a, Int lda, int* pivots, int* info) = nullptr;
  void (*geqrf)(Int m, Int n, T* a, Int lda, T* taus, T* work, Int work_size,
                int* info) = nullptr;
  void (*larft)(Word direct, Word storev, Int n, Int k, const T* v, Int ldv,
                const T* taus, T* t, Int ldt, size_t, size_t) = nullptr;
  void (*larfb)(Word side, Word trans, Word direct, Word storev, Int m, Int n,
                Int k, const T* v, Int ldv, const T* t, Int ldt, T* c, Int ldc,
                T* work, Int ldwork, size_t, size_t, size_t, size_t) = nullptr;

  // syevd; heevd has room for reals besides. Vectors and values.
  void Heevd(const char* uplo, int n, T* a, Real* w, T* work, int work_size,
             Real* real_work, int real_size, int* int_work, int int_size,
             int* info) const {
    if constexpr (std::is_same_v<T, Real>) {
      syevd("V", uplo, &n, a, &n, w, work, &work_size, int_work, &int_size,
            info, 1, 1);
    } else {
      heevd("V", uplo, &n, a, &n, w, work, &work_size, real_work, &real_size,
            int_work, &int_size, info, 1, 1);
    }
  }
  // gesdd; of complex numbers with room for reals besides.
  void Gesdd(char job, int m, int n, T* a, Real* s, T* u, int ldu, T* vt,
             int ldvt, T* work, int work_size, Real* real_work, int* int_work,
             int* info) const {
    if constexpr (std::is_same_v<T, Real>) {
      real_gesdd(&job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &work_size,
                 int_work, info, 1);
    } else {
      gesdd(&job, &m, &n, a, &m, s, u, &ldu, vt, &ldvt, work, &work_size,
            real_work, int_work, info, 1);
    }
  }

  // geev, with right vectors alone; values of reals are in two parts, and
  // complex numbers want room for 2 n reals.
  void Geev(int n, T* a, T* w, T* imaginary, T* v, T* work, int work_size,
            Real* real_work, int* info) const {
    const int one = 1;
    T none{};
    if constexpr (std::is_same_v<T, Real>) {
      real_geev("N", "V", &n, a, &n, w, imaginary, &none, &one, v, &n, work,
                &work_size, info, 1, 1);
    } else {
      geev("N", "V", &n, a, &n, w, &none, &one, v, &n, work, &work_size,
           real_work, info, 1, 1);
    }
  }

  // Of reals, and of complex numbers: each pair has one that is there.
  void (*syevd)(Word jobz, Word uplo, Int n, T* a, Int lda, Real* w, T* work,
                Int work_size, int* int_work, Int int_size, int* info, size_t,
                size_t) = nullptr;
  void (*heevd)(Word jobz, Word uplo, Int n, T* a, Int lda, Real* w, T* work,
                Int work_size, Real* real_work, Int real_size, int* int_work,
                Int int_size, int* info, size_t, size_t) = nullptr;
  void (*real_gesdd)(Word jobz, Int m, Int n, T* a, Int lda, Real* s, T* u,
                     Int ldu, T* vt, Int ldvt, T* work, Int work_size,
                     int* int_work, int* info, size_t) = nullptr;
  void (*gesdd)(Word jobz, Int m, Int n, T* a, Int lda, Real* s, T* u, Int ldu,
                T* vt, Int ldvt, T* work, Int work_size, Real* real_work,
                int* int_work, int* info, size_t) = nullptr;
  void (*real_geev)(Word jobvl, Word jobvr, Int n, T* a, Int lda, T* re, T* im,
                    T* vl, Int ldvl, T* vr, Int ldvr, T* work, Int work_size,
                    int* info, size_t, size_t) = nullptr;
  void (*geev)(Word jobvl, Word jobvr, Int n, T* a, Int lda, T* w, T* vl,
               Int ldvl, T* vr, Int ldvr, T* work, Int work_size,
               Real* real_work, int* info, size_t, size_t) = nullptr;
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
