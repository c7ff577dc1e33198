// Reflectors: matrices as products of Householder reflections, in memory where
// columns are contiguous, by a library or own loops.
#ifndef HAWSER_KERNELS_CPU_LINALG_REFLECTORS_H_
#define HAWSER_KERNELS_CPU_LINALG_REFLECTORS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "kernels/cpu/linalg/matrices.h"

namespace hawser::cpu {

// Columns: element (i, j) stands at data[j * rows + i].
template <typename T>
struct Columns {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;

  T* At(int64_t i, int64_t j) const { return data + j * rows + i; }
};

// Makes x the vector of the reflection that leaves only its first element,
// which then stands there; returns tau.
template <typename T>
T Reflect(int64_t n, T* x) {
  using Real = RealOf<T>;
  Real largest = 0;
  for (int64_t i = 1; i < n; ++i)
    largest = std::max(largest, LargestPart(x[i]));
  T first = x[0];
  const bool is_real = !kIsComplexOf<T> || Imaginary(first) == 0;
  if (largest == 0 && is_real) return T(0);
  // Scaled, so that no square and no difference overflows.
  const Real scale = PowerOfTwoNear(std::max(largest, LargestPart(first)));
  Real sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i] /= scale;
    sum += Re(Times(x[i], ConjugateOf(x[i])));
  }
  first = x[0];
  const Real norm = std::sqrt(sum);
  const Real beta = Re(first) >= 0 ? -norm : norm;
  const T tau = (T(beta) - first) / beta;
  const T divisor = first - T(beta);
  for (int64_t i = 1; i < n; ++i) x[i] = x[i] / divisor;
  x[0] = T(beta * scale);
  return tau;
}

// c -= tau v v^H c of n rows, v with 1 for its first element.
template <typename T>
void ReflectColumns(const T* v, T tau, int64_t n, int64_t stride,
                    int64_t columns, T* c) {
  for (int64_t j = 0; j < columns; ++j, c += stride) {
    T sum = c[0];
    for (int64_t i = 1; i < n; ++i) sum += Times(ConjugateOf(v[i]), c[i]);
    sum = Times(tau, sum);
    c[0] -= sum;
    SubtractTimes(sum, v + 1, n - 1, c + 1);
  }
}

// LAPACK's form: reflection k is I - tau v v^H, where v is 0 before row k, 1
// there, and below what stands below the diagonal of column k.
template <typename T>
class Reflectors {
 public:
  Reflectors(const Lapack* lapack, WorkMeter* meter)
      : f_(lapack == nullptr ? nullptr : &lapack->Of<T>()), meter_(meter) {}

  // a becomes R on and above the diagonal and the reflections' vectors below.
  absl::Status Factor(Columns<T> a, T* taus) const {
    const int64_t count = std::min(a.rows, a.columns);
    for (int64_t k = 0; k < count; k += kBlock) {
      const int64_t size = std::min(kBlock, count - k);
      HAWSER_RETURN_IF_ERROR(FactorBlock(a, k, size, taus));
      HAWSER_RETURN_IF_ERROR(
          Apply(a, k, size, taus, /*adjoint=*/true, a, k + size));
    }
    return absl::OkStatus();
  }

  // The first `count` reflections times the identity, in q.
  absl::Status Product(Columns<T> a, const T* taus, int64_t count,
                       Columns<T> q) const {
    for (int64_t j = 0; j < q.columns; ++j) {
      HAWSER_RETURN_IF_ERROR(meter_->Begin(static_cast<double>(q.rows)));
      std::fill_n(q.At(0, j), q.rows, T{});
      if (j < q.rows) *q.At(j, j) = T(1);
    }
    for (int64_t k = (count + kBlock - 1) / kBlock; k-- > 0;) {
      const int64_t begin = k * kBlock;
      HAWSER_RETURN_IF_ERROR(Apply(a, begin, std::min(kBlock, count - begin),
                                   taus, /*adjoint=*/false, q, begin));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kBlock = 32;

  absl::Status Begin(int64_t m, int64_t n, int64_t k) const {
    const double steps =
        f_ == nullptr ? kOwnProductSteps<T> : kLibraryProductSteps<T>;
    return meter_->Begin(2 * steps * static_cast<double>(m) *
                         static_cast<double>(n) * static_cast<double>(k));
  }

  absl::Status FactorBlock(Columns<T> a, int64_t k, int64_t size,
                           T* taus) const {
    HAWSER_RETURN_IF_ERROR(Begin(a.rows - k, size, size));
    if (f_ == nullptr) {
      for (int64_t j = k; j < k + size; ++j) {
        taus[j] = Reflect(a.rows - j, a.At(j, j));
        ReflectColumns(a.At(j, j), ConjugateOf(taus[j]), a.rows - j, a.rows,
                       k + size - j - 1, a.At(j, j + 1));
      }
      return absl::OkStatus();
    }
    const int m = static_cast<int>(a.rows - k), n = static_cast<int>(size);
    const int stride = static_cast<int>(a.rows);
    T work[kBlock * kBlock];
    const int room = kBlock * kBlock;
    int info = 0;
    const LibraryCall call;
    f_->geqrf(&m, &n, a.At(k, k), &stride, taus + k, work, &room, &info);
    return absl::OkStatus();
  }

  // Reflections [k, k + size) of a, or their adjoint, times columns of c from
  // `first` on.
  absl::Status Apply(Columns<T> a, int64_t k, int64_t size, const T* taus,
                     bool adjoint, Columns<T> c, int64_t first) const {
    if (first >= c.columns) return absl::OkStatus();
    if (f_ == nullptr) return ApplyOwn(a, k, size, taus, adjoint, c, first);
    const int m = static_cast<int>(a.rows - k), n = static_cast<int>(size);
    const int stride = static_cast<int>(a.rows);
    const int of_t = kBlock, of_c = static_cast<int>(c.rows);
    T t[kBlock * kBlock];
    {
      const LibraryCall call;
      f_->larft("F", "C", &m, &n, a.At(k, k), &stride, taus + k, t, &of_t, 1,
                1);
    }
    constexpr int64_t kMost = 512;  // columns of a call
    std::vector<T> work(std::min(kMost, c.columns - first) * size);
    for (int64_t j = first; j < c.columns; j += kMost) {
      const int columns = static_cast<int>(std::min(kMost, c.columns - j));
      HAWSER_RETURN_IF_ERROR(Begin(m, columns, size));
      const LibraryCall call;
      f_->larfb("L", adjoint ? (kIsComplexOf<T> ? "C" : "T") : "N", "F", "C",
                &m, &columns, &n, a.At(k, k), &stride, t, &of_t, c.At(k, j),
                &of_c, work.data(), &columns, 1, 1, 1, 1);
    }
    return absl::OkStatus();
  }

  absl::Status ApplyOwn(Columns<T> a, int64_t k, int64_t size, const T* taus,
                        bool adjoint, Columns<T> c, int64_t first) const {
    for (int64_t step = 0; step < size; ++step) {
      const int64_t j = adjoint ? k + step : k + size - 1 - step;
      HAWSER_RETURN_IF_ERROR(Begin(a.rows - j, c.columns - first, 1));
      ReflectColumns(a.At(j, j), adjoint ? ConjugateOf(taus[j]) : taus[j],
                     a.rows - j, c.rows, c.columns - first, c.At(j, first));
    }
    return absl::OkStatus();
  }

  const LapackOf<T>* const f_;
  WorkMeter* const meter_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_REFLECTORS_H_
