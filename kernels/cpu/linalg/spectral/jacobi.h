// Eigenvalues of Hermitian matrices and singular values by Jacobi's rotations:
// own loops, each as exact as its elements.
#ifndef HAWSER_KERNELS_CPU_LINALG_SPECTRAL_JACOBI_H_
#define HAWSER_KERNELS_CPU_LINALG_SPECTRAL_JACOBI_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "kernels/cpu/linalg/matrices.h"

namespace hawser::cpu {

// The unitary [[c, s], [-conj(s), c]], c real.
template <typename T>
struct Rotation {
  RealOf<T> c = 1;
  T s = 0;
};

// The one that turns rows x and y, of which x x^H is `xx`, y y^H is `yy`, and x
// y^H is `xy`, so that they are orthogonal: x' = c x - s y, y' = conj(s) x + c
// y. The smaller angle of the two.
template <typename T>
Rotation<T> Orthogonalizing(RealOf<T> xx, RealOf<T> yy, T xy) {
  using Real = RealOf<T>;
  const Real size = std::abs(xy);
  if (size == 0) return {};
  const T phase = xy / size;
  const Real zeta = (yy - xx) / (2 * size);
  const Real t = (zeta >= 0 ? Real{1} : Real{-1}) /
                 (std::abs(zeta) + std::abs(std::complex<Real>(1, zeta)));
  const Real c = 1 / std::sqrt(1 + t * t);
  return {c, phase * (c * t)};
}

template <typename T>
void Rotate(const Rotation<T>& r, T* x, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const T first = x[i], second = y[i];
    x[i] = r.c * first - Times(r.s, second);
    y[i] = Times(ConjugateOf(r.s), first) + r.c * second;
  }
}

// Sweeps after which what is not yet apart stays so: 6 to 10 are usual.
inline constexpr int kMostSweeps = 40;

template <typename T>
void MakeIdentity(View<T> a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill_n(a.Row(i), a.columns, T{});
    a.At(i, i) = T(1);
  }
}

// Makes the Hermitian a diagonal, of which both triangles are there. Then
// a = v^H diag v; v: of a's sizes.
template <typename T>
absl::Status DiagonalizeByJacobi(View<T> a, View<T> v, WorkMeter* meter) {
  using Real = RealOf<T>;
  constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
  const int64_t n = a.rows;
  MakeIdentity(v);
  bool turned = true;
  for (int sweep = 0; sweep < kMostSweeps && turned; ++sweep) {
    turned = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const Real first = Re(a.At(p, p)), second = Re(a.At(q, q));
        const T beside = a.At(p, q);
        if (std::abs(beside) <= kEpsilon / 4 * std::sqrt(std::abs(first)) *
                                    std::sqrt(std::abs(second))) {
          continue;
        }
        turned = true;
        HAWSER_RETURN_IF_ERROR(
            meter->Begin(6 * kOwnProductSteps<T> * static_cast<double>(n)));
        const auto r = Orthogonalizing<T>(first, second, beside);
        Rotate(r, a.Row(p), a.Row(q), n);
        for (int64_t i = 0; i < n; ++i) {
          const T x = a.At(i, p), y = a.At(i, q);
          a.At(i, p) = r.c * x - Times(ConjugateOf(r.s), y);
          a.At(i, q) = Times(r.s, x) + r.c * y;
        }
        a.At(p, p) = Re(a.At(p, p));
        a.At(q, q) = Re(a.At(q, q));
        a.At(p, q) = a.At(q, p) = T{};
        Rotate(r, v.Row(p), v.Row(q), n);
      }
    }
  }
  return absl::OkStatus();
}

// Makes the rows of a orthogonal: a = j^H a', of as many rows as a has.
template <typename T>
absl::Status OrthogonalizeByJacobi(View<T> a, View<T> j, WorkMeter* meter) {
  using Real = RealOf<T>;
  constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
  MakeIdentity(j);
  bool turned = true;
  for (int sweep = 0; sweep < kMostSweeps && turned; ++sweep) {
    turned = false;
    for (int64_t p = 0; p < a.rows; ++p) {
      for (int64_t q = p + 1; q < a.rows; ++q) {
        HAWSER_RETURN_IF_ERROR(meter->Begin(
            5 * kOwnProductSteps<T> * static_cast<double>(a.columns + a.rows)));
        T *const x = a.Row(p), *const y = a.Row(q);
        Real xx = 0, yy = 0;
        T xy{};
        for (int64_t i = 0; i < a.columns; ++i) {
          xx += Re(Times(x[i], ConjugateOf(x[i])));
          yy += Re(Times(y[i], ConjugateOf(y[i])));
          xy += Times(x[i], ConjugateOf(y[i]));
        }
        if (std::abs(xy) <= kEpsilon * std::sqrt(xx) * std::sqrt(yy)) continue;
        turned = true;
        const auto r = Orthogonalizing<T>(xx, yy, xy);
        Rotate(r, x, y, a.columns);
        Rotate(r, j.Row(p), j.Row(q), a.rows);
      }
    }
  }
  return absl::OkStatus();
}

// Makes the rows of q from `known` on orthonormal to those before and to each
// other: of the unit vectors those that are left over most.
template <typename T>
absl::Status CompleteRows(View<T> q, int64_t known, WorkMeter* meter) {
  int64_t unit = 0;
  for (int64_t row = known; row < q.rows; ++row) {
    T* const x = q.Row(row);
    for (bool found = false; !found && unit < q.columns; ++unit) {
      std::fill_n(x, q.columns, T{});
      x[unit] = T(1);
      // Twice: what rounding leaves of the first time goes by the second.
      for (int pass = 0; pass < 2; ++pass) {
        for (int64_t other = 0; other < row; ++other) {
          HAWSER_RETURN_IF_ERROR(meter->Begin(2 * kOwnProductSteps<T> *
                                              static_cast<double>(q.columns)));
          T along{};
          for (int64_t i = 0; i < q.columns; ++i) {
            along += Times(x[i], ConjugateOf(q.At(other, i)));
          }
          SubtractTimes(along, q.Row(other), q.columns, x);
        }
      }
      RealOf<T> size = 0;
      for (int64_t i = 0; i < q.columns; ++i) {
        size += Re(Times(x[i], ConjugateOf(x[i])));
      }
      // All unit vectors together leave as many as rows are missing.
      found = size * static_cast<RealOf<T>>(q.columns) >= RealOf<T>{0.5};
      if (!found) continue;
      const RealOf<T> root = std::sqrt(size);
      for (int64_t i = 0; i < q.columns; ++i) x[i] /= root;
    }
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_SPECTRAL_JACOBI_H_
