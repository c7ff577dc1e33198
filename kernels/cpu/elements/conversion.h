// One number as another dtype, rounded once.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_CONVERSION_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_CONVERSION_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/values/dtype.h"
#include "core/base/values/rounding.h"

namespace hawser::cpu {

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
    return RoundedTo<To>(value);
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
