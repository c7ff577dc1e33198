// Vector arithmetic of chains. chains.cc includes it, which Highway compiles
// once for each instruction set.
#if defined(HAWSER_KERNELS_CPU_CHAINS_CHAIN_MATH_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_CHAINS_CHAIN_MATH_INL_H_
#undef HAWSER_KERNELS_CPU_CHAINS_CHAIN_MATH_INL_H_
#else
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_MATH_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/lanes/halves-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using V = hn::Vec<Tag<T>>;
template <typename T>
using M = hn::Mask<Tag<T>>;
// Integers as wide.
template <typename T>
using IntTag = hn::RebindToSigned<Tag<T>>;
template <typename T>
using IntOf = hn::TFromD<IntTag<T>>;

// Vectors that make up register a; h has as many. Both are arguments of the
// links' functions, of which the ABI passes eight in machine registers.
constexpr int kVectors = 4;

// Repeats its argument with each vector's number as v.
#define HAWSER_EACH(...)                    \
  {                                         \
    {                                       \
      [[maybe_unused]] constexpr int v = 0; \
      __VA_ARGS__                           \
    }                                       \
    {                                       \
      [[maybe_unused]] constexpr int v = 1; \
      __VA_ARGS__                           \
    }                                       \
    {                                       \
      [[maybe_unused]] constexpr int v = 2; \
      __VA_ARGS__                           \
    }                                       \
    {                                       \
      [[maybe_unused]] constexpr int v = 3; \
      __VA_ARGS__                           \
    }                                       \
  }

// ---- floats -----------------------------------------------------------------

// NaN wins, -0 is below +0. Equal numbers may be zeros of two signs, which
// their bits tell apart; a sum of NaN and a number is NaN.
template <typename N>
HWY_INLINE N MaxOf(N a, N b) {
  const N equal = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Add(a, b));
  return hn::IfThenElse(hn::Gt(a, b), a,
                        hn::IfThenElse(hn::Gt(b, a), b, equal));
}
template <typename N>
HWY_INLINE N MinOf(N a, N b) {
  const N equal = hn::IfThenElse(hn::Eq(a, b), hn::Or(a, b), hn::Add(a, b));
  return hn::IfThenElse(hn::Lt(a, b), a,
                        hn::IfThenElse(hn::Lt(b, a), b, equal));
}

// -0 and NaN stay.
template <typename T>
HWY_INLINE V<T> SignOf(V<T> a) {
  const Tag<T> d;
  const auto zero = hn::Zero(d);
  return hn::IfThenElse(hn::Gt(a, zero), hn::Set(d, T{1}),
                        hn::IfThenElse(hn::Lt(a, zero), hn::Set(d, T{-1}), a));
}

// Rounds halves away from 0; x less its whole part is exact.
template <typename T>
HWY_INLINE V<T> RoundedAway(V<T> x) {
  const Tag<T> d;
  const V<T> whole = hn::Trunc(x);
  const M<T> up = hn::Ge(hn::Abs(hn::Sub(x, whole)), hn::Set(d, T{0.5}));
  const V<T> next = hn::Add(whole, hn::CopySign(hn::Set(d, T{1}), x));
  return hn::IfThenElse(up, next, whole);
}

// ---- masks and integers -----------------------------------------------------

template <typename T>
HWY_INLINE V<IntOf<T>> Ints(V<T> a) {
  return hn::BitCast(IntTag<T>(), a);
}
template <typename T>
HWY_INLINE V<T> Lanes(V<IntOf<T>> a) {
  return hn::BitCast(Tag<T>(), a);
}
template <typename T>
HWY_INLINE M<T> AsMask(M<IntOf<T>> m) {
  return hn::RebindMask(Tag<T>(), m);
}

template <typename T>
HWY_INLINE auto Uints(V<T> a) {
  return hn::BitCast(hn::RebindToUnsigned<Tag<T>>(), a);
}
template <typename T, typename N>
HWY_INLINE V<T> FromUints(N a) {
  return hn::BitCast(Tag<T>(), a);
}
template <typename T>
HWY_INLINE M<T> UintsLess(V<T> a, V<T> b) {
  return hn::RebindMask(Tag<T>(), hn::Lt(Uints<T>(a), Uints<T>(b)));
}
template <typename N>
HWY_INLINE N IntSignOf(N a) {
  const hn::DFromV<N> d;
  const N zero = hn::Zero(d);
  // A mask as lanes is -1 where it holds.
  return hn::Sub(hn::VecFromMask(d, hn::Lt(a, zero)),
                 hn::VecFromMask(d, hn::Gt(a, zero)));
}
template <typename N>
HWY_INLINE N UintSignOf(N a) {
  const hn::DFromV<N> d;
  return hn::IfThenElseZero(hn::Ne(a, hn::Zero(d)), hn::Set(d, 1));
}
// The product's lower bits. There is no multiplication of bytes: those at even
// places and those at odd ones are multiplied as 2 bytes.
template <typename N>
HWY_INLINE N Product(N a, N b) {
  const hn::DFromV<N> d;
  if constexpr (sizeof(hn::TFromD<decltype(d)>) == 1) {
    const hn::RepartitionToWide<hn::RebindToUnsigned<hn::DFromV<N>>> du;
    const auto x = hn::BitCast(du, a), y = hn::BitCast(du, b);
    const auto even = hn::And(hn::Mul(x, y), hn::Set(du, 0xFF));
    const auto odd =
        hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(x), hn::ShiftRight<8>(y)));
    return hn::BitCast(d, hn::Or(even, odd));
  } else {
    return hn::Mul(a, b);
  }
}

// Loads a byte for each lane as an integer.
template <typename T>
HWY_INLINE V<IntOf<T>> Widened(const uint8_t* at) {
  const IntTag<T> di;
  const auto bytes = hn::LoadU(hn::Rebind<uint8_t, Tag<T>>(), at);
  if constexpr (sizeof(T) == 1) {
    return hn::BitCast(di, bytes);
  } else if constexpr (sizeof(T) < 8) {
    return hn::PromoteTo(di, bytes);
  } else {
    return hn::PromoteTo(di,
                         hn::PromoteTo(hn::Rebind<int32_t, Tag<T>>(), bytes));
  }
}
template <typename T>
HWY_INLINE M<T> LoadBools(const uint8_t* at) {
  const IntTag<T> di;
  return AsMask<T>(hn::Ne(Widened<T>(at), hn::Zero(di)));
}
template <typename T>
HWY_INLINE void StoreBools(M<T> m, uint8_t* to) {
  const hn::Rebind<uint8_t, Tag<T>> d8;
#if HWY_TARGET == HWY_AVX3
  // A mask has a bit for each lane, whatever the lanes' width.
  if constexpr (sizeof(T) >= 4) {
    const auto bytes = _mm_maskz_set1_epi8(m.raw, 1);
    hn::StoreU(hn::Vec<decltype(d8)>{bytes}, d8, to);
    return;
  }
#endif
  const hn::RebindToUnsigned<Tag<T>> du;
  const auto ones = hn::IfThenElseZero(
      hn::RebindMask(du, m), hn::Set(du, hn::TFromD<decltype(du)>{1}));
  if constexpr (sizeof(T) == 1) {
    hn::StoreU(ones, d8, to);
  } else {
    hn::StoreU(hn::TruncateTo(d8, ones), d8, to);
  }
}

// ---- bits -------------------------------------------------------------------

// Shifts each lane of a by that lane of `by`, read without a sign. A shift by
// all bits or more leaves 0, or with kRightArithmetic the sign.
enum class Shift : uint8_t { kLeft, kRightLogical, kRightArithmetic };
template <Shift kShift, typename N>
HWY_INLINE N Shifted(N a, N by) {
  const hn::DFromV<N> d;
  const hn::RebindToUnsigned<hn::DFromV<N>> du;
  using U = hn::TFromD<decltype(du)>;
  constexpr U kBits = 8 * sizeof(U);
  const auto bits = hn::BitCast(du, by);
  const auto most = hn::Min(bits, hn::Set(du, kBits - 1));
  if constexpr (kShift == Shift::kRightArithmetic) {
    return hn::Shr(a, hn::BitCast(d, most));
  } else {
    const auto x = hn::BitCast(du, a);
    const auto moved =
        kShift == Shift::kLeft ? hn::Shl(x, most) : hn::Shr(x, most);
    const auto is_less = hn::Eq(bits, most);
    return hn::BitCast(d, hn::IfThenElseZero(is_less, moved));
  }
}
// Shifts all lanes by the same number.
template <Shift kShift, typename N>
HWY_INLINE N ShiftedAlike(N a, uint64_t by) {
  const hn::DFromV<N> d;
  const hn::RebindToUnsigned<hn::DFromV<N>> du;
  constexpr uint64_t kBits = 8 * sizeof(hn::TFromD<decltype(d)>);
  const bool is_less = by < kBits;
  const int bits = static_cast<int>(is_less ? by : kBits - 1);
  if constexpr (kShift == Shift::kRightArithmetic) {
    return hn::ShiftRightSame(a, bits);
  } else {
    if (!is_less) return hn::Zero(d);
    const auto x = hn::BitCast(du, a);
    return hn::BitCast(d, kShift == Shift::kLeft ? hn::ShiftLeftSame(x, bits)
                                                 : hn::ShiftRightSame(x, bits));
  }
}

// Rotates the bits of each lane left; 0 < by < their number.
template <typename N>
HWY_INLINE N RotatedLeft(N a, int by) {
  const hn::DFromV<N> d;
  constexpr int kBits = 8 * sizeof(hn::TFromD<decltype(d)>);
#if HWY_TARGET == HWY_AVX3
  if constexpr (kBits == 32) {
    return N{_mm512_rolv_epi32(a.raw, hn::Set(d, by).raw)};
  } else {
    return N{_mm512_rolv_epi64(a.raw, hn::Set(d, by).raw)};
  }
#else
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto x = hn::BitCast(du, a);
  return hn::BitCast(
      d, hn::Or(hn::ShiftLeftSame(x, by), hn::ShiftRightSame(x, kBits - by)));
#endif
}

// Stores a function's result in a or in m.
template <typename T>
HWY_INLINE void Put(V<T> lanes, V<T>* a, M<T>* /*mask*/) {
  *a = lanes;
}
template <typename T>
HWY_INLINE void Put(M<T> mask, V<T>* /*a*/, M<T>* m) {
  *m = mask;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
