// A = Q R by reflections.
#include <cmath>
#include <complex>
#include <vector>

#include "core/base/values/dtype.h"
#include "kernels/emu/library_calls/linalg.h"
#include "kernels/emu/library_calls/wide.h"

namespace hawser::emu {
namespace {

// Columns one after another.
template <typename C>
struct Columns {
  int64_t rows;
  std::vector<C> values;

  Columns(int64_t rows, int64_t columns) : rows(rows), values(rows * columns) {}
  C& operator()(int64_t i, int64_t j) { return values[j * rows + i]; }
};

// The reflection that makes column k of `m` 0 below its diagonal: 1 - 2 v v^H /
// v^H v, v from row k on. Empty: there is nothing to be done.
template <typename C>
std::vector<C> Reflection(Columns<C>& m, int64_t k) {
  decltype(std::abs(C())) norm = 0;
  for (int64_t i = k; i < m.rows; ++i) norm += std::norm(m(i, k));
  if (norm == 0) return {};
  norm = std::sqrt(norm);
  std::vector<C> v;
  for (int64_t i = k; i < m.rows; ++i) v.push_back(m(i, k));
  const auto size = std::abs(v[0]);
  v[0] += size == 0 ? C(norm) : v[0] / size * norm;
  return v;
}

// Reflects columns [first, end) of `m`.
template <typename C>
void Reflect(const std::vector<C>& v, int64_t k, int64_t first, int64_t end,
             Columns<C>* m) {
  if (v.empty()) return;
  decltype(std::abs(C())) square = 0;
  for (const C& x : v) square += std::norm(x);
  for (int64_t j = first; j < end; ++j) {
    C sum{};
    for (size_t i = 0; i < v.size(); ++i) {
      sum += Conjugate(v[i]) * (*m)(k + static_cast<int64_t>(i), j);
    }
    sum *= 2 / square;
    for (size_t i = 0; i < v.size(); ++i) {
      (*m)(k + static_cast<int64_t>(i), j) -= v[i] * sum;
    }
  }
}

template <typename T>
void Qr(const gpu::QrSpec& s, const T* a, T* packed, T* q_out) {
  using C = typename Wide<T>::C;
  const int64_t least = std::min(s.rows, s.columns);
  Columns<C> m(s.rows, s.columns), q(s.rows, s.q_columns);
  std::copy(a, a + s.rows * s.columns, m.values.begin());
  std::vector<std::vector<C>> reflections;
  for (int64_t k = 0; k < least; ++k) {
    reflections.push_back(Reflection(m, k));
    Reflect(reflections[k], k, k, s.columns, &m);
  }
  for (int64_t k = 0; k < s.q_columns; ++k) q(k, k) = C(1);
  for (int64_t k = least; k-- > 0;) {
    Reflect(reflections[k], k, 0, s.q_columns, &q);
  }
  // A real diagonal.
  for (int64_t k = 0; k < least; ++k) {
    const auto size = std::abs(m(k, k));
    if (size == 0) continue;
    const C phase = m(k, k) / size;
    for (int64_t j = k; j < s.columns; ++j) m(k, j) *= Conjugate(phase);
    for (int64_t i = 0; i < s.rows; ++i) q(i, k) *= phase;
  }
  FillNaN(packed, s.rows * s.columns);
  for (int64_t j = 0; j < s.columns; ++j) {
    for (int64_t i = 0; i <= std::min(j, s.rows - 1); ++i) {
      packed[j * s.rows + i] = static_cast<T>(m(i, j));
    }
  }
  for (const C& x : q.values) *q_out++ = static_cast<T>(x);
}

template <typename T>
void QrOfAll(const gpu::QrSpec& s, const gpu::CallOperands& o) {
  const int64_t matrix = s.rows * s.columns;
  for (int64_t k = 0; k < s.batch; ++k) {
    Qr(s, At<const T>(o.operands[0]) + k * matrix,
       At<T>(o.results[0]) + k * matrix,
       At<T>(o.results[1]) + k * s.rows * s.q_columns);
  }
}

}  // namespace

absl::Status RunCall(const gpu::QrSpec& spec,
                     const gpu::CallOperands& operands) {
  switch (spec.dtype) {
    case DType::kF32:
      QrOfAll<float>(spec, operands);
      break;
    case DType::kF64:
      QrOfAll<double>(spec, operands);
      break;
    case DType::kC64:
      QrOfAll<std::complex<float>>(spec, operands);
      break;
    default:
      QrOfAll<std::complex<double>>(spec, operands);
  }
  return absl::OkStatus();
}

}  // namespace hawser::emu
