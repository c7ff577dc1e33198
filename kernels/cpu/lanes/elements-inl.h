// Monoids on one element. folds.cc and others include it, which Highway
// compiles once for each instruction set.
#if defined(HAWSER_KERNELS_CPU_LANES_ELEMENTS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_LANES_ELEMENTS_INL_H_
#undef HAWSER_KERNELS_CPU_LANES_ELEMENTS_INL_H_
#else
#define HAWSER_KERNELS_CPU_LANES_ELEMENTS_INL_H_
#endif

#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
constexpr bool kIsWhole = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <typename T>
constexpr bool kIsReal = std::is_floating_point_v<T>;
template <typename T>
constexpr bool kIsBits = std::is_integral_v<T>;
// Unsigned, in which arithmetic wraps.
template <typename T>
using Unsigned =
    std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
template <typename T>
using RealBits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// Each op's functor is for the types that its `kFor` is true of.
#define HAWSER_BINARY(Name, Types, ...)      \
  struct Name {                              \
    template <typename T>                    \
    static constexpr bool kFor = Types;      \
    template <typename T>                    \
    static HWY_INLINE auto Apply(T a, T b) { \
      __VA_ARGS__                            \
    }                                        \
  };

HAWSER_BINARY(Plus, kIsWhole<T> || kIsReal<T>, {
  if constexpr (kIsReal<T>) {
    return a + b;
  } else {
    return static_cast<T>(static_cast<Unsigned<T>>(a) +
                          static_cast<Unsigned<T>>(b));
  }
})
HAWSER_BINARY(Times, kIsWhole<T> || kIsReal<T>, {
  if constexpr (kIsReal<T>) {
    return a * b;
  } else {
    return static_cast<T>(static_cast<Unsigned<T>>(a) *
                          static_cast<Unsigned<T>>(b));
  }
})
// NaN wins, -0 is below +0. Equal numbers may be zeros of two signs, which
// their bits tell apart; a sum of NaN and a number is NaN.
HAWSER_BINARY(Larger, kIsBits<T> || kIsReal<T>, {
  if constexpr (kIsReal<T>) {
    using Bits = RealBits<T>;
    const T same =
        __builtin_bit_cast(T, static_cast<Bits>(__builtin_bit_cast(Bits, a) &
                                                __builtin_bit_cast(Bits, b)));
    const T equal = a == b ? same : a + b;
    const T second = b > a ? b : equal;
    return a > b ? a : second;
  } else {
    return a > b ? a : b;
  }
})
HAWSER_BINARY(Smaller, kIsBits<T> || kIsReal<T>, {
  if constexpr (kIsReal<T>) {
    using Bits = RealBits<T>;
    const T same =
        __builtin_bit_cast(T, static_cast<Bits>(__builtin_bit_cast(Bits, a) |
                                                __builtin_bit_cast(Bits, b)));
    const T equal = a == b ? same : a + b;
    const T second = b < a ? b : equal;
    return a < b ? a : second;
  } else {
    return a < b ? a : b;
  }
})
HAWSER_BINARY(BitAnd, kIsBits<T>, { return static_cast<T>(a & b); })
HAWSER_BINARY(BitOr, kIsBits<T>, { return static_cast<T>(a | b); })

#undef HAWSER_BINARY

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
