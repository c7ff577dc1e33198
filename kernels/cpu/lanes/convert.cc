// Highway compiles this file once for each instruction set. The code between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE uses that set alone, and nothing
// from outside that may be inlined elsewhere too.

#include <cstdint>
#include <type_traits>

#include "kernels/cpu/lanes/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lanes/convert.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/isa/by_isa.h"
#include "kernels/cpu/lanes/elements-inl.h"
#include "kernels/cpu/lanes/halves-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// Halves are not converted here. A real that an integer cannot hold becomes the
// nearest that it can, NaN 0.
template <typename To, typename From>
HWY_INLINE To Converted(From a) {
  if constexpr (std::is_same_v<To, bool>) {
    return a != From{0};
  } else if constexpr (kIsReal<From> && kIsWhole<To>) {
    constexpr To kMost = static_cast<To>(~To{0}) > To{0}
                             ? static_cast<To>(~To{0})
                             : static_cast<To>(~static_cast<To>(
                                   static_cast<std::make_unsigned_t<To>>(1)
                                   << (sizeof(To) * 8 - 1)));
    constexpr To kLeast = static_cast<To>(~kMost);
    // 2^bits, which is exact.
    constexpr From kEnd = static_cast<From>(kMost / 2 + 1) * 2;
    const bool above = a >= kEnd, below = a <= static_cast<From>(kLeast);
    const To held = static_cast<To>(above || below || a != a ? From{0} : a);
    return above ? kMost : below ? kLeast : held;
  } else {
    return static_cast<To>(a);
  }
}

// True if a conversion by way of a float rounds once.
template <typename From>
constexpr bool kIsFloatExactly = std::is_same_v<From, float> ||
                                 (std::is_integral_v<From> && sizeof(From) < 4);

template <typename From, typename To>
void ConvertLanes(const char* const* in, char* out, int64_t n) {
  const From* a = reinterpret_cast<const From*>(in[0]);
  To* r = reinterpret_cast<To*>(out);
  if constexpr (!kIsHalfLane<From> && !kIsHalfLane<To>) {
    HAWSER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) r[i] = Converted<To>(a[i]);
  } else {
    HWY_ALIGN float x[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      if constexpr (kIsHalfLane<From>) {
        Widen(a + i, m, x);
      } else {
        HAWSER_INDEPENDENT_ITERATIONS
        for (int64_t k = 0; k < m; ++k) x[k] = static_cast<float>(a[i + k]);
      }
      if constexpr (kIsHalfLane<To>) {
        Narrow(x, m, r + i);
      } else {
        HAWSER_INDEPENDENT_ITERATIONS
        for (int64_t k = 0; k < m; ++k) r[i + k] = Converted<To>(x[k]);
      }
    }
  }
}

template <typename T>
constexpr bool kIsLane = kIsBits<T> || kIsReal<T> || kIsHalfLane<T>;

ElementFn Convert(const ElementTypes& types) {
  return VisitDType(types.operands[0], [&](auto from) {
    return VisitDType(types.result, [](auto to) -> ElementFn {
      using From = typename decltype(from)::type;
      using To = typename decltype(to)::type;
      if constexpr (kIsLane<From> && kIsLane<To> && !std::is_same_v<From, To> &&
                    (!kIsHalfLane<To> || kIsHalfLane<From> ||
                     kIsFloatExactly<From>)) {
        return ConvertLanes<From, To>;
      } else {
        return nullptr;
      }
    });
  });
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

ElementFn FindConvert(const ElementTypes& types, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, Convert(types))
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
