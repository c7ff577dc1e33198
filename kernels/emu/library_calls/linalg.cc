#include "kernels/emu/library_calls/linalg.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/emu/library_calls/wide.h"

namespace hawser::emu {
namespace {

using gpu::Factorization;
using gpu::FactorizationSpec;
using gpu::MatrixUse;
using gpu::TriangularSolveSpec;

// A square matrix of wide numbers.
template <typename C>
class Matrix {
 public:
  explicit Matrix(int64_t n) : n_(n), values_(n * n) {}
  C& operator()(int64_t i, int64_t j) { return values_[i * n_ + j]; }
  const C& operator()(int64_t i, int64_t j) const {
    return values_[i * n_ + j];
  }
  int64_t size() const { return n_; }

 private:
  int64_t n_;
  std::vector<C> values_;
};

// The Hermitian matrix of which `a` holds one triangle.
template <typename T, typename C>
Matrix<C> Hermitian(const T* a, int64_t n, bool lower) {
  Matrix<C> m(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const C x(lower ? a[i * n + j] : a[j * n + i]);
      m(i, j) = lower ? x : Conjugate(x);
      m(j, i) = Conjugate(m(i, j));
    }
    m(i, i) = C(std::real(m(i, i)));
  }
  return m;
}

// Returns the row, from 1, whose pivot is not positive; 0: none.
template <typename T>
int32_t Cholesky(const FactorizationSpec& s, const T* a, T* factor) {
  using W = typename Wide<T>::W;
  using C = typename Wide<T>::C;
  const int64_t n = s.size;
  FillNaN(factor, n * n);
  Matrix<C> l = Hermitian<T, C>(a, n, s.lower);
  for (int64_t j = 0; j < n; ++j) {
    W pivot = std::real(l(j, j));
    for (int64_t k = 0; k < j; ++k) pivot -= std::norm(l(j, k));
    if (!(pivot > 0)) return static_cast<int32_t>(j + 1);
    l(j, j) = C(std::sqrt(pivot));
    for (int64_t i = j + 1; i < n; ++i) {
      C sum = l(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= l(i, k) * Conjugate(l(j, k));
      l(i, j) = sum / std::real(l(j, j));
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      if (s.lower) {
        factor[i * n + j] = static_cast<T>(l(i, j));
      } else {
        factor[j * n + i] = static_cast<T>(Conjugate(l(i, j)));
      }
    }
  }
  return 0;
}

// One rotation of Jacobi's method: afterwards a(p, q) is 0.
template <typename C>
void Rotate(int64_t p, int64_t q, Matrix<C>* a, Matrix<C>* v) {
  using W = decltype(std::abs(C()));
  const W size = std::abs((*a)(p, q));
  if (size == 0) return;
  const C phase = (*a)(p, q) / size;
  const W theta = (std::real((*a)(q, q)) - std::real((*a)(p, p))) / (2 * size);
  const W t = (theta >= 0 ? W{1} : W{-1}) /
              (std::abs(theta) + std::sqrt(theta * theta + 1));
  const W c = 1 / std::sqrt(t * t + 1);
  const C s = phase * (t * c);
  const int64_t n = a->size();
  for (Matrix<C>* m : {a, v}) {
    for (int64_t k = 0; k < n; ++k) {
      const C x = (*m)(k, p), y = (*m)(k, q);
      (*m)(k, p) = c * x - Conjugate(s) * y;
      (*m)(k, q) = s * x + c * y;
    }
  }
  for (int64_t k = 0; k < n; ++k) {
    const C x = (*a)(p, k), y = (*a)(q, k);
    (*a)(p, k) = c * x - s * y;
    (*a)(q, k) = Conjugate(s) * x + c * y;
  }
}

template <typename C>
bool IsFinite(const Matrix<C>& a) {
  for (int64_t i = 0; i < a.size(); ++i) {
    for (int64_t j = 0; j < a.size(); ++j) {
      if (!std::isfinite(std::real(a(i, j))) ||
          !std::isfinite(std::imag(a(i, j)))) {
        return false;
      }
    }
  }
  return true;
}

template <typename T>
absl::Status Eigh(const FactorizationSpec& s, const T* a,
                  typename Wide<T>::Real* w, T* adjoint) {
  using W = typename Wide<T>::W;
  using C = typename Wide<T>::C;
  const int64_t n = s.size;
  Matrix<C> m = Hermitian<T, C>(a, n, s.lower), v(n);
  if (!IsFinite(m)) return Internal("eigh: the matrix is not finite");
  for (int64_t i = 0; i < n; ++i) v(i, i) = C(1);
  for (int sweep = 0; sweep < 40; ++sweep) {
    W off = 0, all = 0;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = 0; q < n; ++q) {
        all += std::norm(m(p, q));
        if (p != q) off += std::norm(m(p, q));
      }
    }
    const W eps = std::numeric_limits<W>::epsilon();
    if (off <= eps * eps * all) break;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) Rotate(p, q, &m, &v);
    }
  }
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
    return std::real(m(x, x)) < std::real(m(y, y));
  });
  for (int64_t k = 0; k < n; ++k) {
    w[k] =
        static_cast<typename Wide<T>::Real>(std::real(m(order[k], order[k])));
    for (int64_t i = 0; i < n; ++i) {
      adjoint[k * n + i] = static_cast<T>(Conjugate(v(i, order[k])));
    }
  }
  return absl::OkStatus();
}

// LAPACK compares numbers by this.
template <typename C>
auto SizeOf(const C& x) {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

// L U of the transpose of `a`, packed and transposed; `numbers` are exchanged
// as the rows are.
template <typename T>
absl::Status Lu(const FactorizationSpec& s, const T* a, T* packed,
                int32_t* pivots, double* numbers, int32_t* info) {
  using C = typename Wide<T>::C;
  const int64_t n = s.size;
  Matrix<C> m(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) m(i, j) = C(a[j * n + i]);
  }
  if (!IsFinite(m)) return Internal("lu: the matrix is not finite");
  *info = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (SizeOf(m(i, k)) > SizeOf(m(pivot, k))) pivot = i;
    }
    pivots[k] = static_cast<int32_t>(pivot + 1);
    std::swap(numbers[k], numbers[pivot]);
    for (int64_t j = 0; j < n; ++j) std::swap(m(k, j), m(pivot, j));
    if (m(k, k) == C(0)) {
      if (*info == 0) *info = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      m(i, k) /= m(k, k);
      for (int64_t j = k + 1; j < n; ++j) m(i, j) -= m(i, k) * m(k, j);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) packed[j * n + i] = static_cast<T>(m(i, j));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Factor(const FactorizationSpec& s, const gpu::CallOperands& o) {
  const int64_t n = s.size;
  int32_t* info = At<int32_t>(o.results.back());
  const T* a = At<const T>(o.operands[0]);
  for (int64_t b = 0; b < s.batch; ++b, a += n * n) {
    if (s.kind == Factorization::kCholesky) {
      info[b] = Cholesky(s, a, At<T>(o.results[0]) + b * n * n);
      continue;
    }
    if (s.kind == Factorization::kLu) {
      double* const numbers = At<double>(o.results[2]) + b * n;
      std::copy_n(At<const double>(o.operands[1]) + b * n, n, numbers);
      HAWSER_RETURN_IF_ERROR(Lu(s, a, At<T>(o.results[0]) + b * n * n,
                                At<int32_t>(o.results[1]) + b * n, numbers,
                                info + b));
      continue;
    }
    info[b] = 0;
    HAWSER_RETURN_IF_ERROR(
        Eigh(s, a, At<typename Wide<T>::Real>(o.results[0]) + b * n,
             At<T>(o.results[1]) + b * n * n));
  }
  return absl::OkStatus();
}

// Solves for one side of B: x holds it, and afterwards X. `m` is op(A) or, from
// the right, its transpose; `lower` says which triangle of it counts.
template <typename C>
void Substitute(const Matrix<C>& m, bool lower, bool unit, std::vector<C>* x) {
  const int64_t n = m.size();
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = lower ? step : n - 1 - step;
    C sum = (*x)[i];
    for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) {
      sum -= m(i, k) * (*x)[k];
    }
    (*x)[i] = unit ? sum : sum / m(i, i);
  }
}

template <typename T>
void Solve(const TriangularSolveSpec& s, const T* a, const T* b, T* x) {
  using C = typename Wide<T>::C;
  const int64_t n = s.size();
  const bool turned = (s.use != MatrixUse::kAsIs) == s.left_side;
  Matrix<C> m(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      C value(a[i * n + j]);
      if (s.use == MatrixUse::kAdjoint) value = Conjugate(value);
      (turned ? m(j, i) : m(i, j)) = value;
    }
  }
  const int64_t sides = s.left_side ? s.columns : s.rows;
  std::vector<C> side(n);
  for (int64_t k = 0; k < sides; ++k) {
    const auto place = [&](int64_t i) {
      return s.left_side ? i * s.columns + k : k * s.columns + i;
    };
    for (int64_t i = 0; i < n; ++i) side[i] = C(b[place(i)]);
    Substitute(m, s.lower != turned, s.unit_diagonal, &side);
    for (int64_t i = 0; i < n; ++i) x[place(i)] = static_cast<T>(side[i]);
  }
}

template <typename T>
void SolveAll(const TriangularSolveSpec& s, const gpu::CallOperands& o) {
  const int64_t n = s.size(), sides = s.rows * s.columns;
  for (int64_t k = 0; k < s.batch; ++k) {
    Solve(s, At<const T>(o.operands[0]) + k * n * n,
          At<const T>(o.operands[1]) + k * sides,
          At<T>(o.results[0]) + k * sides);
  }
}

}  // namespace

absl::Status RunCall(const FactorizationSpec& spec,
                     const gpu::CallOperands& operands) {
  switch (spec.dtype) {
    case DType::kF32:
      return Factor<float>(spec, operands);
    case DType::kF64:
      return Factor<double>(spec, operands);
    case DType::kC64:
      return Factor<std::complex<float>>(spec, operands);
    default:
      return Factor<std::complex<double>>(spec, operands);
  }
}

absl::Status RunCall(const TriangularSolveSpec& spec,
                     const gpu::CallOperands& operands) {
  switch (spec.dtype) {
    case DType::kF32:
      SolveAll<float>(spec, operands);
      break;
    case DType::kF64:
      SolveAll<double>(spec, operands);
      break;
    case DType::kC64:
      SolveAll<std::complex<float>>(spec, operands);
      break;
    default:
      SolveAll<std::complex<double>>(spec, operands);
  }
  return absl::OkStatus();
}

}  // namespace hawser::emu
