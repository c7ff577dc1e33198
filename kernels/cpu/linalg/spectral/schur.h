// The triangle and the unitary that a complex square matrix is made of, by
// reflections and shifted QR: own loops.
#ifndef HAWSER_KERNELS_CPU_LINALG_SPECTRAL_SCHUR_H_
#define HAWSER_KERNELS_CPU_LINALG_SPECTRAL_SCHUR_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/status.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/spectral/jacobi.h"

namespace hawser::cpu {

// Makes `h` an upper triangle t and `z` the unitary of a = z t z^H. Not
// thread-safe: it has a meter.
template <typename T>
class Schur {
 public:
  // Both of one size, which is square.
  Schur(View<T> h, View<T> z, WorkMeter* meter)
      : h_(h), z_(z), meter_(meter), n_(h.rows), turns_(h.rows) {}

  // False: it did not converge.
  absl::StatusOr<bool> Run() {
    MakeIdentity(z_);
    for (int64_t k = 0; k + 2 < n_; ++k) HAWSER_RETURN_IF_ERROR(Reflect(k));
    int64_t last = n_ - 1;
    int steps = 0;
    while (last > 0) {
      const int64_t first = FirstOf(last);
      if (first == last) {
        --last;
        steps = 0;
        continue;
      }
      if (++steps > kMostSteps) return false;
      HAWSER_RETURN_IF_ERROR(Step(first, last, ShiftAt(last, steps)));
    }
    return true;
  }

 private:
  using Real = RealOf<T>;
  static constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
  // Steps for one value: 2 or 3 are usual.
  static constexpr int kMostSteps = 60;

  absl::Status Begin(int64_t products) const {
    return meter_->Begin(kOwnProductSteps<T> * static_cast<double>(products));
  }

  // Makes column k 0 below the first subdiagonal, by I - tau v v^H from both
  // sides.
  absl::Status Reflect(int64_t k) {
    Real below = 0;
    for (int64_t i = k + 2; i < n_; ++i) below += std::norm(h_.At(i, k));
    if (below == 0) return absl::OkStatus();
    const T alpha = h_.At(k + 1, k);
    const Real size = std::sqrt(std::norm(alpha) + below);
    const T beta =
        std::abs(alpha) == 0 ? T(-size) : -alpha / std::abs(alpha) * size;
    std::vector<T> v(n_);
    v[k + 1] = T(1);
    for (int64_t i = k + 2; i < n_; ++i) v[i] = h_.At(i, k) / (alpha - beta);
    const Real tau = 1 + std::abs(alpha) / size;
    HAWSER_RETURN_IF_ERROR(Begin(2 * (n_ - k) * (n_ - k)));
    std::vector<T> sums(n_);
    for (int64_t i = k + 1; i < n_; ++i) {
      SubtractTimes(-std::conj(v[i]), h_.Row(i) + k, n_ - k, sums.data() + k);
    }
    for (int64_t i = k + 1; i < n_; ++i) {
      SubtractTimes(tau * v[i], sums.data() + k, n_ - k, h_.Row(i) + k);
    }
    h_.At(k + 1, k) = beta;
    for (int64_t i = k + 2; i < n_; ++i) h_.At(i, k) = T{};
    for (const View<T> x : {h_, z_}) {
      HAWSER_RETURN_IF_ERROR(Begin(2 * n_ * (n_ - k)));
      for (int64_t i = 0; i < n_; ++i) {
        T sum{};
        for (int64_t j = k + 1; j < n_; ++j) sum += Times(x.At(i, j), v[j]);
        sum *= tau;
        for (int64_t j = k + 1; j < n_; ++j) {
          x.At(i, j) -= Times(sum, std::conj(v[j]));
        }
      }
    }
    return absl::OkStatus();
  }

  // Where the block begins that ends in row `last`; what is below it there is
  // as good as 0, and becomes it.
  int64_t FirstOf(int64_t last) {
    int64_t k = last;
    for (; k > 0; --k) {
      const Real beside = SizeOf(h_.At(k - 1, k - 1)) + SizeOf(h_.At(k, k));
      const Real least = std::numeric_limits<Real>::min();
      if (SizeOf(h_.At(k, k - 1)) > std::max(kEpsilon * beside, least)) {
        continue;
      }
      h_.At(k, k - 1) = T{};
      break;
    }
    return k;
  }

  // The eigenvalue of the last two rows and columns that is nearer to the last
  // element; now and then another number, which ends circles.
  T ShiftAt(int64_t last, int step) const {
    const T a = h_.At(last - 1, last - 1), b = h_.At(last - 1, last);
    const T c = h_.At(last, last - 1), d = h_.At(last, last);
    if (step % 10 == 0) return d + T(SizeOf(c));
    const T half = (a - d) / Real{2};
    const T root = std::sqrt(Times(half, half) + Times(b, c));
    const bool same = Re(Times(half, std::conj(root))) >= 0;
    const T sum = same ? half + root : half - root;
    return std::abs(sum) == 0 ? d : d - Times(b, c) / sum;
  }

  // One step of QR on the block [first, last].
  absl::Status Step(int64_t first, int64_t last, T shift) {
    for (int64_t i = first; i <= last; ++i) h_.At(i, i) -= shift;
    for (int64_t k = first; k < last; ++k) {
      const T x = h_.At(k, k), y = h_.At(k + 1, k);
      const Real of_x = std::abs(x);
      const Real size = std::abs(std::complex<Real>(of_x, std::abs(y)));
      // [[c, s], [-conj(s), c]] makes y 0.
      Rotation<T>& r = turns_[k];
      const T phase = of_x == 0 ? T(1) : x / of_x;
      r.c = size == 0 ? 1 : of_x / size;
      r.s = size == 0 ? T{} : -Times(phase, std::conj(y)) / size;
      HAWSER_RETURN_IF_ERROR(Begin(4 * (n_ - k)));
      Rotate(r, h_.Row(k) + k, h_.Row(k + 1) + k, n_ - k);
      h_.At(k + 1, k) = T{};
    }
    HAWSER_RETURN_IF_ERROR(TurnColumns(h_, first, last));
    for (int64_t i = first; i <= last; ++i) h_.At(i, i) += shift;
    return TurnColumns(z_, first, last);
  }

  // The turns of rows, adjoint, from the right; row by row, for the caches.
  absl::Status TurnColumns(View<T> x, int64_t first, int64_t last) {
    const bool triangle = x.data == h_.data;
    const int64_t rows = triangle ? last + 1 : n_;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t begin = triangle ? std::max(first, i - 1) : first;
      HAWSER_RETURN_IF_ERROR(Begin(4 * (last - begin)));
      T* const row = x.Row(i);
      for (int64_t k = begin; k < last; ++k) {
        const Rotation<T>& r = turns_[k];
        const T a = row[k], b = row[k + 1];
        row[k] = r.c * a - Times(std::conj(r.s), b);
        row[k + 1] = Times(r.s, a) + r.c * b;
      }
    }
    return absl::OkStatus();
  }

  const View<T> h_, z_;
  WorkMeter* const meter_;
  const int64_t n_;
  std::vector<Rotation<T>> turns_;
};

// x, of which k + 1 elements are not 0, becomes the vector of element (k, k) of
// an upper triangle, none of whose differences counts as less than `least`.
template <typename T>
void SolveTriangleFor(View<const T> t, int64_t k, RealOf<T> least, T* x) {
  constexpr RealOf<T> kMost = 1 / std::numeric_limits<RealOf<T>>::epsilon();
  x[k] = T(1);
  for (int64_t i = k - 1; i >= 0; --i) {
    T sum{};
    for (int64_t j = i + 1; j <= k; ++j) sum -= Times(t.At(i, j), x[j]);
    const T apart = t.At(i, i) - t.At(k, k);
    x[i] = sum / (SizeOf(apart) < least ? T(least) : apart);
    const RealOf<T> size = LargestPart(x[i]);
    if (size <= kMost) continue;
    for (int64_t j = i; j <= k; ++j) x[j] /= size;
  }
}

// Makes column k of length 1, and its largest element real.
template <typename T>
void NormalizeColumn(View<T> v, int64_t k) {
  using Real = RealOf<T>;
  Real largest = 0, square = 0, most = 0;
  for (int64_t i = 0; i < v.rows; ++i) {
    largest = std::max(largest, LargestPart(v.At(i, k)));
  }
  if (largest == 0) return;
  T phase(1);
  for (int64_t i = 0; i < v.rows; ++i) {
    v.At(i, k) /= largest;
    const Real norm = std::norm(v.At(i, k));
    square += norm;
    if (norm <= most) continue;
    most = norm;
    phase = v.At(i, k) / std::sqrt(norm);
  }
  const T factor = std::conj(phase) / std::sqrt(square);
  for (int64_t i = 0; i < v.rows; ++i) {
    v.At(i, k) = Times(v.At(i, k), factor);
  }
}

// The vectors of z t z^H, t an upper triangle, as the columns of v, each of
// length 1 with its largest element real. `x` has room for a row.
template <typename T>
absl::Status VectorsOfTriangle(View<const T> t, View<const T> z, T* x,
                               View<T> v, WorkMeter* meter) {
  using Real = RealOf<T>;
  constexpr Real kEpsilon = std::numeric_limits<Real>::epsilon();
  const int64_t n = t.rows;
  Real largest = std::numeric_limits<Real>::min() / kEpsilon;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) {
      largest = std::max(largest, LargestPart(t.At(i, j)));
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    HAWSER_RETURN_IF_ERROR(meter->Begin(
        kOwnProductSteps<T> * static_cast<double>((n + k) * (k + 1))));
    SolveTriangleFor(t, k, kEpsilon * largest, x);
    for (int64_t i = 0; i < n; ++i) {
      T sum{};
      for (int64_t j = 0; j <= k; ++j) sum += Times(z.At(i, j), x[j]);
      v.At(i, k) = sum;
    }
    NormalizeColumn(v, k);
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_SPECTRAL_SCHUR_H_
