// Numbers on their way to f16 and bf16, rounded once.
#ifndef HAWSER_CORE_BASE_VALUES_ROUNDING_H_
#define HAWSER_CORE_BASE_VALUES_ROUNDING_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "core/base/values/dtype.h"

namespace hawser {

// To float by "round to odd": cut off, and the last bit set when anything was
// lost. Rounding that again to a half gives what one rounding would have.
template <std::floating_point Wide>
float OddFloat(Wide value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<Wide>(nearest) == value || value != value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::abs(static_cast<Wide>(nearest)) > std::abs(value)) --bits;
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

// A real number as a float type, rounded once to nearest, ties to even.
template <typename To, typename From>
To RoundedTo(From value) {
  if constexpr (!kIsHalf<To> || std::is_same_v<From, float>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<From>) {
    return To(OddFloat(value));
  } else {
    return To(OddFloat(StickyDouble(value)));
  }
}

// A decimal number as OddFloat has it. `nearest`: the double nearest to it,
// which may stand in the middle between two halves where the number does not.
float OddFloatOf(absl::string_view decimal, double nearest);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_ROUNDING_H_
