// The wider numbers in which calls are computed, and values in memory.
#ifndef HAWSER_KERNELS_EMU_LIBRARY_CALLS_WIDE_H_
#define HAWSER_KERNELS_EMU_LIBRARY_CALLS_WIDE_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/gpu/device/device_types.h"

namespace hawser::emu {

template <typename T>
T* At(gpu::DeviceAddress address) {
  return reinterpret_cast<T*>(address.value);
}

// T: the numbers of the call. Real: of their real parts. W: wider real numbers.
// C: wider numbers, complex if T is, in which everything is computed.
template <typename T>
struct Wide {
  using Real = T;
  using W = std::conditional_t<std::is_same_v<T, float>, double, long double>;
  using C = W;
};
template <typename R>
struct Wide<std::complex<R>> {
  using Real = R;
  using W = typename Wide<R>::W;
  using C = std::complex<W>;
};

template <typename C>
C Conjugate(const C& x) {
  if constexpr (std::is_floating_point_v<C>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <typename T>
void FillNaN(T* values, int64_t count) {
  using R = typename Wide<T>::Real;
  std::fill(values, values + count, T(std::numeric_limits<R>::quiet_NaN()));
}

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LIBRARY_CALLS_WIDE_H_
