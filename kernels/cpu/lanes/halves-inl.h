// Halves as floats, for the set of instructions at hand: the files that are
// compiled for each of them include it.
#if defined(HAWSER_KERNELS_CPU_LANES_HALVES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_LANES_HALVES_INL_H_
#undef HAWSER_KERNELS_CPU_LANES_HALVES_INL_H_
#else
#define HAWSER_KERNELS_CPU_LANES_HALVES_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "core/base/values/half.h"
#include "hwy/highway.h"
#include "kernels/cpu/elements/independent_iterations.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// So many are computed at a time.
constexpr int64_t kChunk = 256;

#undef HAWSER_F16
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HAWSER_F16 1
#else
#define HAWSER_F16 0
#endif

#if HAWSER_F16
HWY_INLINE void Widen(const Half* from, int64_t n, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* halves = reinterpret_cast<const hwy::float16_t*>(from);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, halves + i)), d, to + i);
  }
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
HWY_INLINE void Narrow(const float* from, int64_t n, Half* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* halves = reinterpret_cast<hwy::float16_t*>(to);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, from + i)), dh, halves + i);
  }
  for (; i < n; ++i) to[i] = Half(from[i]);
}
#else
// Highway's own code for sets without the instruction knows no infinities.
HWY_INLINE void Widen(const Half* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
HWY_INLINE void Narrow(const float* from, int64_t n, Half* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = Half(from[i]);
}
#endif
HWY_INLINE void Widen(const BFloat16* from, int64_t n, float* to) {
  const auto* bits = reinterpret_cast<const uint16_t*>(from);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    to[i] = __builtin_bit_cast(float, static_cast<uint32_t>(bits[i]) << 16);
  }
}
HWY_INLINE void Narrow(const float* from, int64_t n, BFloat16* to) {
  auto* bits = reinterpret_cast<uint16_t*>(to);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t f = __builtin_bit_cast(uint32_t, from[i]);
    const uint32_t rounded = (f + 0x7FFFu + ((f >> 16) & 1u)) >> 16;
    const uint32_t quiet = (f >> 16) | 0x40u;
    bits[i] = static_cast<uint16_t>(from[i] != from[i] ? quiet : rounded);
  }
}

// A vector of floats, in memory one of halves.
using FloatTag = hn::ScalableTag<float>;
using Floats = hn::Vec<FloatTag>;
struct Bf16 {
  static HWY_INLINE Floats Load(const uint16_t* at) {
    const hn::Rebind<uint16_t, FloatTag> d16;
    const hn::RebindToUnsigned<FloatTag> du;
    const auto bits = hn::PromoteTo(du, hn::LoadU(d16, at));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
  }
  static HWY_INLINE Floats Round(Floats a) {
    const hn::RebindToUnsigned<FloatTag> du;
    const auto bits = hn::BitCast(du, a);
    const auto upper = hn::Set(du, 0xFFFF0000u);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto up = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu)));
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(a));
    return hn::BitCast(FloatTag(),
                       hn::And(hn::IfThenElse(is_nan, quiet, up), upper));
  }
  // The floats are halves already.
  static HWY_INLINE void Store(Floats a, uint16_t* to) {
    const hn::Rebind<uint16_t, FloatTag> d16;
    const hn::RebindToUnsigned<FloatTag> du;
    const auto bits = hn::ShiftRight<16>(hn::BitCast(du, a));
    hn::StoreU(hn::TruncateTo(d16, bits), d16, to);
  }
};
#if HAWSER_F16
struct F16 {
  using Halves = hn::Rebind<hwy::float16_t, FloatTag>;
  static HWY_INLINE Floats Load(const uint16_t* at) {
    const auto* halves = reinterpret_cast<const hwy::float16_t*>(at);
    return hn::PromoteTo(FloatTag(), hn::LoadU(Halves(), halves));
  }
  static HWY_INLINE Floats Round(Floats a) {
    return hn::PromoteTo(FloatTag(), hn::DemoteTo(Halves(), a));
  }
  static HWY_INLINE void Store(Floats a, uint16_t* to) {
    auto* halves = reinterpret_cast<hwy::float16_t*>(to);
    hn::StoreU(hn::DemoteTo(Halves(), a), Halves(), halves);
  }
};
#endif

template <typename T>
constexpr bool kIsHalfLane =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

// The type that T is computed in.
template <typename T>
using Computed = std::conditional_t<kIsHalfLane<T>, float, T>;

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
