// One number as another dtype, rounded once.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_CONVERSION_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_CONVERSION_H_

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/values/dtype.h"

namespace hawser::cpu {

// To float by "round to odd": cut off, and the last bit set when anything was
// lost. Rounding that again to a half gives what one rounding would have.
inline float OddFloat(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

// An integer as a double that rounds to a half as the integer itself would:
// bits beyond the 53 a double holds are folded into one sticky bit.
template <typename T>
double StickyDouble(T value) {
  if constexpr (sizeof(T) < 8) {
    return static_cast<double>(value);
  } else {
    constexpr T kExact = T{1} << 53;
    constexpr T kLost = (T{1} << 11) - 1;
    if (value < kExact && (!std::is_signed_v<T> || value > T{0} - kExact)) {
      return static_cast<double>(value);
    }
    const T sticky = (value & kLost) != 0 ? T{1} : T{0};
    return static_cast<double>((value >> 11) | sticky) * 2048.0;
  }
}

// Corners: house.md, section 9.
template <typename To, typename From>
To ConvertElement(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return To(value);
  } else if constexpr (kIsComplex<From>) {
    return ConvertElement<To>(value.real());
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (kIsComplex<To>) {
    return To(ConvertElement<typename To::value_type>(value));
  } else if constexpr (kIsHalf<From>) {
    return ConvertElement<To>(static_cast<float>(value));
  } else if constexpr (kIsHalf<To>) {
    if constexpr (std::is_same_v<From, float> ||
                  std::is_same_v<From, bool>) {
      return To(static_cast<float>(value));
    } else if constexpr (std::is_same_v<From, double>) {
      return To(OddFloat(value));
    } else {
      return To(OddFloat(StickyDouble(value)));
    }
  } else if constexpr (std::is_floating_point_v<From> && kIsInteger<To>) {
    using Limits = std::numeric_limits<To>;
    // 2^bits of To: the first value too large. Exact, unlike Limits::max().
    constexpr From kEnd = static_cast<From>(Limits::max() / 2 + 1) * 2;
    if (value != value) return 0;
    if (value >= kEnd) return Limits::max();
    if (value <= static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_CONVERSION_H_
