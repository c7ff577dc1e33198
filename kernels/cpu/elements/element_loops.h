// Element loops made from functors: one simple loop per type, which the
// compiler vectorizes.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_ELEMENT_LOOPS_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_ELEMENT_LOOPS_H_

#include <cstdint>
#include <type_traits>

#include "core/base/values/dtype.h"
#include "kernels/cpu/elements/independent_iterations.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// A T in the type it is computed in, and back with one rounding.
template <typename T>
ComputeType<T> Widen(T value) {
  return static_cast<ComputeType<T>>(value);
}

template <typename F, typename T, typename R>
void UnaryLoop(const char* const* in, char* out, int64_t n) {
  const T* a = reinterpret_cast<const T*>(in[0]);
  R* r = reinterpret_cast<R*>(out);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    r[i] = static_cast<R>(F::Apply(Widen(a[i])));
  }
}

template <typename F, typename T, typename R>
void BinaryLoop(const char* const* in, char* out, int64_t n) {
  const T* a = reinterpret_cast<const T*>(in[0]);
  const T* b = reinterpret_cast<const T*>(in[1]);
  R* r = reinterpret_cast<R*>(out);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    r[i] = static_cast<R>(F::Apply(Widen(a[i]), Widen(b[i])));
  }
}

template <typename F, typename T>
void CombineLoop(const int32_t* offsets, int64_t n, int32_t size,
                 const char* from, int64_t step, char* to, int64_t apart) {
  const T* b = reinterpret_cast<const T*>(from);
  T* const tables = reinterpret_cast<T*>(to);
  const auto end = static_cast<uint32_t>(size);
  const auto combine = [&](int64_t k, int64_t table) {
    const auto offset = static_cast<uint32_t>(offsets[k]);
    if (offset >= end) return;
    T& r = tables[table * apart + offset];
    r = static_cast<T>(F::Apply(Widen(r), Widen(b[k * step])));
  };
  static_assert(kCombineTables == 4);
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    combine(k, 0);
    combine(k + 1, 1);
    combine(k + 2, 2);
    combine(k + 3, 3);
  }
  for (; k < n; ++k) combine(k, k % kCombineTables);
}

// The result type of an op on T when F computes a C: T itself if T is computed
// as C, else C (bool of a predicate, the type of a real part).
template <typename T, typename C>
using ResultOf = std::conditional_t<std::is_same_v<C, ComputeType<T>>, T, C>;

// The loops of F for the types it has an Apply of.
template <typename F>
ElementFn Unary(const ElementTypes& types) {
  return VisitDType(types.operands[0], [](auto tag) -> ElementFn {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    if constexpr (requires(C x) { F::Apply(x); }) {
      using R = ResultOf<T, decltype(F::Apply(C{}))>;
      return UnaryLoop<F, T, R>;
    } else {
      return nullptr;
    }
  });
}

template <typename F>
ElementFn Binary(const ElementTypes& types) {
  return VisitDType(types.operands[0], [](auto tag) -> ElementFn {
    using T = typename decltype(tag)::type;
    using C = ComputeType<T>;
    if constexpr (requires(C x) { F::Apply(x, x); }) {
      using R = ResultOf<T, decltype(F::Apply(C{}, C{}))>;
      return BinaryLoop<F, T, R>;
    } else {
      return nullptr;
    }
  });
}

template <typename F>
CombineFn Combine(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> CombineFn {
    using T = typename decltype(tag)::type;
    if constexpr (requires(ComputeType<T> x) { F::Apply(x, x); }) {
      return CombineLoop<F, T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_ELEMENT_LOOPS_H_
