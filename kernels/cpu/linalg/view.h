// View: a row-major matrix in memory, and small loops over its elements.
#ifndef HAWSER_KERNELS_CPU_LINALG_VIEW_H_
#define HAWSER_KERNELS_CPU_LINALG_VIEW_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/libraries/lapack.h"

namespace hawser::cpu {

template <typename T>
inline constexpr bool kIsComplexOf = !std::is_same_v<T, RealOf<T>>;

// Value type over memory of another.
template <typename T>
struct View {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;  // elements from one row to the next

  T* Row(int64_t i) const { return data + i * stride; }
  T& At(int64_t i, int64_t j) const { return data[i * stride + j]; }
  View Block(int64_t row, int64_t column, int64_t num_rows,
             int64_t num_columns) const {
    return {data + row * stride + column, num_rows, num_columns, stride};
  }
  operator View<const T>() const { return {data, rows, columns, stride}; }
};

template <typename T>
T ConjugateOf(T x) {
  if constexpr (kIsComplexOf<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

template <typename T>
RealOf<T> Re(T x) {
  if constexpr (kIsComplexOf<T>) {
    return x.real();
  } else {
    return x;
  }
}

template <typename T>
RealOf<T> Imaginary(T x) {
  if constexpr (kIsComplexOf<T>) {
    return x.imag();
  } else {
    return 0;
  }
}

// What LAPACK compares numbers by.
template <typename T>
RealOf<T> SizeOf(T x) {
  return std::abs(Re(x)) + std::abs(Imaginary(x));
}

template <typename T>
RealOf<T> LargestPart(T x) {
  return std::max(std::abs(Re(x)), std::abs(Imaginary(x)));
}

// The power of two below x, or 1: what is divided by it keeps its digits.
template <typename Real>
Real PowerOfTwoNear(Real x) {
  return x > 0 ? std::ldexp(Real{1}, std::ilogb(x)) : Real{1};
}

template <typename T>
T NotANumber() {
  constexpr RealOf<T> kNan = std::numeric_limits<RealOf<T>>::quiet_NaN();
  if constexpr (kIsComplexOf<T>) {
    return T(kNan, kNan);
  } else {
    return kNan;
  }
}

// x y by the formula: std::complex looks at each product for infinities.
template <typename T>
T Times(T x, T y) {
  if constexpr (kIsComplexOf<T>) {
    return T(x.real() * y.real() - x.imag() * y.imag(),
             x.real() * y.imag() + x.imag() * y.real());
  } else {
    return x * y;
  }
}

// to[j] -= factor * from[j] for j < n.
template <typename T>
void SubtractTimes(T factor, const T* from, int64_t n, T* to) {
  for (int64_t j = 0; j < n; ++j) to[j] -= Times(factor, from[j]);
}

// Whether x is neither infinite nor NaN: such times 0 is 0, of any sign.
template <typename T>
bool AllFinite(const T* x, int64_t n) {
  using Real = RealOf<T>;
  const Real* parts = reinterpret_cast<const Real*>(x);
  const int64_t count = n * static_cast<int64_t>(sizeof(T) / sizeof(Real));
  Real sum[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (int64_t k = 0; k < 8; ++k) sum[k] += parts[i + k] * Real{0};
  }
  for (; i < count; ++i) sum[0] += parts[i] * Real{0};
  for (const Real part : sum) {
    if (!(part == 0)) return false;
  }
  return true;
}

template <typename T>
void FillNan(View<T> a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    std::fill_n(a.Row(i), a.columns, NotANumber<T>());
  }
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_VIEW_H_
