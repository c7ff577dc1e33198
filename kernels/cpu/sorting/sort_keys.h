// Keys of elements: unsigned numbers in the order of OrderOf
// (core/ops/movement/sort.h).
#ifndef HAWSER_KERNELS_CPU_SORTING_SORT_KEYS_H_
#define HAWSER_KERNELS_CPU_SORTING_SORT_KEYS_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/values/dtype.h"

namespace hawser::cpu {

template <typename T>
using UnsignedOf = std::conditional_t<(sizeof(T) <= 4), uint32_t, uint64_t>;

template <typename T>
using BitsOfWidth = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, UnsignedOf<T>>>;
template <typename T>
constexpr auto kSign = static_cast<BitsOfWidth<T>>(BitsOfWidth<T>{1}
                                                   << (8 * sizeof(T) - 1));

// A class of floats that look alike to an order.
enum class Likeness : uint8_t { kNone, kZero, kNan };
template <typename T>
Likeness LikenessOf(T x) {
  using Bits = BitsOfWidth<T>;
  const auto size =
      static_cast<Bits>(std::bit_cast<Bits>(x) & static_cast<Bits>(~kSign<T>));
  const auto infinity =
      std::bit_cast<Bits>(T(std::numeric_limits<float>::infinity()));
  if (size == 0) return Likeness::kZero;
  return size > infinity ? Likeness::kNan : Likeness::kNone;
}

// Unsigned numbers in the order of OrderOf.
template <typename T>
UnsignedOf<T> KeyOfElement(T x) {
  using Bits = BitsOfWidth<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return x ? 1 : 0;
  } else if constexpr (kIsFloat<T>) {
    // It has no branches: vectors lack them, and the data is not predictable.
    const auto bits = std::bit_cast<Bits>(x);
    const auto size = static_cast<Bits>(bits & static_cast<Bits>(~kSign<T>));
    const auto infinity =
        std::bit_cast<Bits>(T(std::numeric_limits<float>::infinity()));
    const auto below = static_cast<Bits>(kSign<T> - size);
    const auto above = static_cast<Bits>(kSign<T> + size);
    const Bits key = bits != size ? below : above;
    return size > infinity ? std::numeric_limits<Bits>::max() : key;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Bits>(static_cast<Bits>(x) ^ kSign<T>);
  } else {
    return x;
  }
}

// An element of that key.
template <typename T>
T ElementOfKey(UnsignedOf<T> key) {
  using Bits = BitsOfWidth<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return key != 0;
  } else if constexpr (kIsFloat<T>) {
    const auto bits = static_cast<Bits>(key);
    const bool is_negative = bits < kSign<T>;
    return std::bit_cast<T>(static_cast<Bits>(
        is_negative ? kSign<T> | (kSign<T> - bits) : bits - kSign<T>));
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<Bits>(static_cast<Bits>(key) ^ kSign<T>));
  } else {
    return static_cast<T>(key);
  }
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_SORTING_SORT_KEYS_H_
