// Compiled for each set of instructions in turn; see loops.cc.
#include "kernels/cpu/lanes/chains.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lanes/chains.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Behind it, as they ask.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/cpu/isa/by_isa.h"

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
// Whole numbers as wide.
template <typename T>
using WholeTag = hn::RebindToSigned<Tag<T>>;
template <typename T>
using WholeOf = hn::TFromD<WholeTag<T>>;

// So many vectors of a chain's lanes go from link to link, and of those held
// beside them: as arguments of functions, which eight of all are in registers.
constexpr int kVectors = 4;

// With each of them as v.
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

// ---- what is done with a vector ---------------------------------------------

// NaN wins, -0 is below +0. Of equal numbers, which may be zeros of two signs,
// the bits tell; a sum of NaN and a number is NaN.
template <typename N>
HWY_INLINE N Larger(N a, N b) {
  const N equal = hn::IfThenElse(hn::Eq(a, b), hn::And(a, b), hn::Add(a, b));
  return hn::IfThenElse(hn::Gt(a, b), a,
                        hn::IfThenElse(hn::Gt(b, a), b, equal));
}
template <typename N>
HWY_INLINE N Smaller(N a, N b) {
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

// The library's, within 1 ulp (measured over all f32), which knows neither NaN
// nor what is far above the largest argument. Where the machine scales by
// powers of 2, by its polynomial alone, within 1.04 ulp (one f32 in three).
HWY_INLINE V<float> ExpOf(V<float> a) {
  const Tag<float> d;
#if HWY_TARGET == HWY_AVX3
  // Of NaN and a number these give the second operand.
  const auto x = hn::Max(hn::Set(d, -128.0f), hn::Min(hn::Set(d, 128.0f), a));
  const auto power = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  // x - power * log(2), which is the sum of two.
  const auto upper = hn::NegMulAdd(power, hn::Set(d, 0.693145751953125f), x);
  const auto rest = hn::NegMulAdd(power, hn::Set(d, 1.428606765e-6f), upper);
  const auto less_one = hn::impl::ExpImpl<float>().ExpPoly(d, rest);
  const auto e = hn::Add(less_one, hn::Set(d, 1.0f));
  return V<float>{_mm512_scalef_ps(e.raw, power.raw)};
#else
  const auto e = hn::Exp(d, hn::Min(a, hn::Set(d, 128.0f)));
  return hn::IfThenElse(hn::IsNaN(a), a, e);
#endif
}

// Likewise, which knows only positive finite numbers.
HWY_INLINE V<float> LogOf(V<float> a) {
  const Tag<float> d;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto zero = hn::Zero(d);
  const auto none = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto large =
      hn::IfThenElse(hn::Lt(a, hn::Set(d, kInfinity)), hn::Log(d, a), a);
  const auto small =
      hn::IfThenElse(hn::Eq(a, zero), hn::Set(d, -kInfinity), none);
  return hn::IfThenElse(hn::Gt(a, zero), large, small);
}

// 1 / (1 + e^-a), by the sign of a, so that e never overflows.
HWY_INLINE V<float> LogisticOf(V<float> a) {
  const Tag<float> d;
  const auto one = hn::Set(d, 1.0f);
  const auto e = ExpOf(hn::Neg(hn::Abs(a)));
  const auto above = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), e, one);
  return hn::Div(above, hn::Add(one, e));
}

// x / y, bit for bit. Of a y whose inverse is exact, by that. Else by an
// inverse that is rounded correctly: each remainder is exact, the first makes a
// quotient that is less than one unit off, and the second one of those the
// right one (Markstein 1990), where nothing is too small or too large for that.
template <typename T>
HWY_INLINE void DivideByOne(V<T> (&a)[kVectors], T one) {
  const Tag<T> d;
  const hn::RebindToUnsigned<Tag<T>> du;
  using Bits = hn::TFromD<decltype(du)>;
  constexpr int kMantissa = sizeof(T) == 4 ? 23 : 52;
  constexpr Bits kBias = sizeof(T) == 4 ? 127 : 1023;
  constexpr Bits kAway = sizeof(T) == 4 ? 30 : 300;
  const Bits bits = __builtin_bit_cast(Bits, one);
  const Bits exponent = (bits >> kMantissa) & (2 * kBias + 1);
  const bool is_near = exponent - (kBias - kAway) < 2 * kAway;
  const V<T> y = hn::Set(d, one);
  const V<T> inverse = hn::Set(d, T{1} / one);
  if (is_near && (bits << (sizeof(T) * 8 - kMantissa)) == 0) {
    HAWSER_EACH(a[v] = hn::Mul(a[v], inverse);)
    return;
  }
#if HWY_NATIVE_FMA
  // Of 0 the least is the largest.
  auto least = hn::Set(du, static_cast<Bits>(~Bits{0}));
  auto most = hn::Zero(du);
  HAWSER_EACH(const auto twice =
                  hn::Add(hn::BitCast(du, a[v]), hn::BitCast(du, a[v]));
              least = hn::Min(least, hn::Sub(twice, hn::Set(du, Bits{1})));
              most = hn::Max(most, twice);)
  const auto above =
      hn::Gt(most, hn::Set(du, (kBias + 2 * kAway) << (kMantissa + 1)));
  const auto below =
      hn::Lt(least, hn::Set(du, (kBias - 2 * kAway) << (kMantissa + 1)));
  if (is_near && hn::AllFalse(du, hn::Or(above, below))) {
    const V<T> sign = hn::And(hn::SignBit(d), y);
    HAWSER_EACH(
        [[maybe_unused]] const V<T> x = a[v];
        const V<T> q0 = hn::Mul(x, inverse);
        const V<T> q1 = hn::MulAdd(hn::NegMulAdd(q0, y, x), inverse, q0);
        const V<T> q2 = hn::MulAdd(hn::NegMulAdd(q1, y, x), inverse, q1);
        // A remainder of nothing takes the sign from 0.
        a[v] = hn::Or(q2, hn::And(hn::Xor(x, sign), hn::SignBit(d)));)
    return;
  }
#endif
  HAWSER_EACH(a[v] = hn::Div(a[v], y);)
}

// ---- truths and whole numbers -----------------------------------------------

template <typename T>
HWY_INLINE V<WholeOf<T>> Whole(V<T> a) {
  return hn::BitCast(WholeTag<T>(), a);
}
template <typename T>
HWY_INLINE V<T> Lanes(V<WholeOf<T>> a) {
  return hn::BitCast(Tag<T>(), a);
}
template <typename T>
HWY_INLINE M<T> Truths(M<WholeOf<T>> m) {
  return hn::RebindMask(Tag<T>(), m);
}

// Bytes, one for each lane, as whole numbers.
template <typename T>
HWY_INLINE V<WholeOf<T>> Widened(const uint8_t* at) {
  const WholeTag<T> di;
  const auto bytes = hn::LoadU(hn::Rebind<uint8_t, Tag<T>>(), at);
  if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(di, bytes);
  } else {
    return hn::PromoteTo(di,
                         hn::PromoteTo(hn::Rebind<int32_t, Tag<T>>(), bytes));
  }
}
template <typename T>
HWY_INLINE M<T> LoadTruths(const uint8_t* at) {
  const WholeTag<T> di;
  return Truths<T>(hn::Ne(Widened<T>(at), hn::Zero(di)));
}
template <typename T>
HWY_INLINE void StoreTruths(M<T> m, uint8_t* to) {
  const hn::RebindToUnsigned<Tag<T>> du;
  const hn::Rebind<uint8_t, Tag<T>> d8;
  const auto ones = hn::IfThenElseZero(
      hn::RebindMask(du, m), hn::Set(du, hn::TFromD<decltype(du)>{1}));
  hn::StoreU(hn::TruncateTo(d8, ones), d8, to);
}

// ---- halves -----------------------------------------------------------------

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HAWSER_F16 1
#else
// Without instructions for it, the library's own way knows no infinities.
#define HAWSER_F16 0
#endif

struct Bf16 {
  static HWY_INLINE V<float> Load(const uint16_t* at) {
    const hn::Rebind<uint16_t, Tag<float>> d16;
    const hn::RebindToUnsigned<Tag<float>> du;
    const auto bits = hn::PromoteTo(du, hn::LoadU(d16, at));
    return hn::BitCast(Tag<float>(), hn::ShiftLeft<16>(bits));
  }
  static HWY_INLINE V<float> Round(V<float> a) {
    const hn::RebindToUnsigned<Tag<float>> du;
    const auto bits = hn::BitCast(du, a);
    const auto upper = hn::Set(du, 0xFFFF0000u);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto up = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu)));
    const auto quiet = hn::Or(bits, hn::Set(du, 0x400000u));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(a));
    return hn::BitCast(Tag<float>(),
                       hn::And(hn::IfThenElse(is_nan, quiet, up), upper));
  }
  // Of what is one.
  static HWY_INLINE void Store(V<float> a, uint16_t* to) {
    const hn::Rebind<uint16_t, Tag<float>> d16;
    const hn::RebindToUnsigned<Tag<float>> du;
    const auto bits = hn::ShiftRight<16>(hn::BitCast(du, a));
    hn::StoreU(hn::TruncateTo(d16, bits), d16, to);
  }
};
#if HAWSER_F16
struct F16 {
  using Halves = hn::Rebind<hwy::float16_t, Tag<float>>;
  static HWY_INLINE V<float> Load(const uint16_t* at) {
    const auto* halves = reinterpret_cast<const hwy::float16_t*>(at);
    return hn::PromoteTo(Tag<float>(), hn::LoadU(Halves(), halves));
  }
  static HWY_INLINE V<float> Round(V<float> a) {
    return hn::PromoteTo(Tag<float>(), hn::DemoteTo(Halves(), a));
  }
  static HWY_INLINE void Store(V<float> a, uint16_t* to) {
    auto* halves = reinterpret_cast<hwy::float16_t*>(to);
    hn::StoreU(hn::DemoteTo(Halves(), a), Halves(), halves);
  }
};
#endif

// ---- bits -------------------------------------------------------------------

// Each lane of a moved by as many bits as b says, taken without a sign. Of more
// than there are nothing is left, or with `kSigned` the sign.
enum class Way : uint8_t { kLeft, kRight, kRightSigned };
template <Way way, typename N>
HWY_INLINE N Moved(N a, N by) {
  const hn::DFromV<N> d;
  const hn::RebindToUnsigned<hn::DFromV<N>> du;
  using U = hn::TFromD<decltype(du)>;
  constexpr U kBits = 8 * sizeof(U);
  const auto bits = hn::BitCast(du, by);
  const auto most = hn::Min(bits, hn::Set(du, kBits - 1));
  if constexpr (way == Way::kRightSigned) {
    return hn::Shr(a, hn::BitCast(d, most));
  } else {
    const auto x = hn::BitCast(du, a);
    const auto moved = way == Way::kLeft ? hn::Shl(x, most) : hn::Shr(x, most);
    const auto is_less = hn::Eq(bits, most);
    return hn::BitCast(d, hn::IfThenElseZero(is_less, moved));
  }
}
// All of them by as many.
template <Way way, typename N>
HWY_INLINE N MovedAlike(N a, uint64_t by) {
  const hn::DFromV<N> d;
  const hn::RebindToUnsigned<hn::DFromV<N>> du;
  constexpr uint64_t kBits = 8 * sizeof(hn::TFromD<decltype(d)>);
  const bool is_less = by < kBits;
  const int bits = static_cast<int>(is_less ? by : kBits - 1);
  if constexpr (way == Way::kRightSigned) {
    return hn::ShiftRightSame(a, bits);
  } else {
    if (!is_less) return hn::Zero(d);
    const auto x = hn::BitCast(du, a);
    return hn::BitCast(d, way == Way::kLeft ? hn::ShiftLeftSame(x, bits)
                                            : hn::ShiftRightSame(x, bits));
  }
}

// The bits of each lane moved left in a circle, 0 < by < as many as they are.
template <typename N>
HWY_INLINE N Turned(N a, int by) {
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

// ---- strips and registers ---------------------------------------------------

template <typename T>
struct Registers {
  V<T> a[kVectors], h[kVectors];
};

// A strip of the lanes: kLanes from i on or, if kWhole is false, only n.
template <typename T>
class Strip {
 public:
  static constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  static constexpr int64_t kLanes = kVectors * kStep;
  static_assert(kLanes * sizeof(T) <= kStripBytes);

  template <bool kWhole>
  HWY_INLINE void Begin(int64_t i, int64_t n) {
    i_ = i;
    n_ = n;
    const Tag<T> d;
    const auto zero = hn::Zero(d);
    HAWSER_EACH(truths[v] = hn::Eq(zero, zero);)
    if constexpr (kWhole) return;
    HAWSER_EACH(hn::StoreU(zero, d, rest_ + v * kStep);)
  }
  HWY_INLINE int64_t first() const { return i_; }

  // At least kLanes elements, those behind n any.
  template <bool kWhole, typename U = T>
  HWY_INLINE const U* Read(const ChainLink& link) {
    const U* from = reinterpret_cast<const U*>(link.at) + FirstOf(link);
    if constexpr (kWhole) return from;
    U* const rest = reinterpret_cast<U*>(rest_);
    __builtin_memcpy(rest, from, n_ * sizeof(U));
    return rest;
  }
  // `write` leaves kLanes elements at its argument.
  template <bool kWhole, typename U = T, typename Write>
  HWY_INLINE void Give(const ChainLink& link, Write write) {
    U* const to = reinterpret_cast<U*>(link.at) + FirstOf(link);
    if constexpr (kWhole) return write(to);
    U* const rest = reinterpret_cast<U*>(rest_);
    write(rest);
    __builtin_memcpy(to, rest, n_ * sizeof(U));
  }

  M<T> truths[kVectors];

 private:
  HWY_INLINE int64_t FirstOf(const ChainLink& link) const {
    return link.of_strip ? 0 : i_;
  }

  int64_t i_, n_;
  HWY_ALIGN T rest_[kLanes];
};

template <typename T>
HWY_INLINE void Put(V<T> lanes, V<T>* a, M<T>* /*truths*/) {
  *a = lanes;
}
template <typename T>
HWY_INLINE void Put(M<T> truths, V<T>* /*a*/, M<T>* m) {
  *m = truths;
}

// ---- links ------------------------------------------------------------------

// Does what a link says and goes on to the next one. A call in tail position is
// a jump, and its arguments stay where they are: so registers are what the
// lanes are in, whatever the links are, and each link has all others.
// Bare vectors, which compilers pass through better than those of classes.
template <typename T>
using Raw = decltype(V<T>::raw);

template <typename T, typename N = Raw<T>>
using Code = void (*)(const ChainLink*, Strip<T>*, N, N, N, N, N, N, N, N);

#if defined(__clang__)
#define HAWSER_TAIL [[clang::musttail]]
#else
// Where nothing is optimized calls nest, which is slow and right.
#define HAWSER_TAIL
#endif

template <typename T, typename Do, bool kWhole, typename N = Raw<T>>
void RunLink(const ChainLink* link, Strip<T>* strip, N a0, N a1, N a2, N a3,
             N h0, N h1, N h2, N h3) {
  Registers<T> r = {{{a0}, {a1}, {a2}, {a3}}, {{h0}, {h1}, {h2}, {h3}}};
  Do::template Run<T, kWhole>(*link, *strip, r);
  ++link;
  HAWSER_TAIL return reinterpret_cast<Code<T>>(link->code.whole)(
      link, strip, r.a[0].raw, r.a[1].raw, r.a[2].raw, r.a[3].raw, r.h[0].raw,
      r.h[1].raw, r.h[2].raw, r.h[3].raw);
}

template <typename T, typename N = Raw<T>>
void EndChain(const ChainLink* /*link*/, Strip<T>* /*strip*/, N, N, N, N, N, N,
              N, N) {}

// The others of a link, vector by vector.
template <typename T, ChainOther other, bool kWhole>
class Others {
 public:
  HWY_INLINE Others([[maybe_unused]] const ChainLink& link,
                    [[maybe_unused]] Strip<T>& strip) {
    const Tag<T> d;
    one_ = hn::Zero(d);
    if constexpr (other == ChainOther::kLanes) {
      lanes_ = strip.template Read<kWhole>(link);
    }
    if constexpr (other == ChainOther::kOne) {
      one_ = hn::Set(d, *reinterpret_cast<const T*>(link.at));
    }
  }

  HWY_INLINE V<T> Of(int v, const Registers<T>& r) const {
    if constexpr (other == ChainOther::kLanes) {
      return hn::LoadU(Tag<T>(), lanes_ + v * Strip<T>::kStep);
    } else if constexpr (other == ChainOther::kOne) {
      return one_;
    } else if constexpr (other == ChainOther::kHeld) {
      return r.h[v];
    } else {
      return r.a[v];
    }
  }

 private:
  const T* lanes_ = nullptr;
  V<T> one_;
};

// A function of lanes x, others y and truths m, which gives one or the other.
template <typename Function, ChainOther other>
struct OfLanes {
  static constexpr bool kOfMemory = other == ChainOther::kLanes;
  template <typename T, bool kWhole>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    const Others<T, other, kWhole> others(link, strip);
    HAWSER_EACH(Put<T>(Function::template Of<T>(r.a[v], others.Of(v, r),
                                                strip.truths[v]),
                       &r.a[v], &strip.truths[v]);)
  }
};
// The same of lanes h and others a.
template <typename Function>
struct OfHeld {
  static constexpr bool kOfMemory = false;
  template <typename T, bool kWhole>
  static HWY_INLINE void Run(const ChainLink& /*link*/, Strip<T>& strip,
                             Registers<T>& r) {
    HAWSER_EACH(r.h[v] = Function::template Of<T>(r.h[v], r.a[v],
                                                  strip.truths[v]);)
  }
};
#define HAWSER_FUNCTION(Name, ...)                              \
  struct Name {                                                 \
    template <typename T>                                       \
    static HWY_INLINE auto Of([[maybe_unused]] V<T> x,          \
                              [[maybe_unused]] V<T> y,          \
                              [[maybe_unused]] const M<T>& m) { \
      [[maybe_unused]] const Tag<T> d;                          \
      return __VA_ARGS__;                                       \
    }                                                           \
  };
HAWSER_FUNCTION(Other, y)
HAWSER_FUNCTION(Plus, hn::Add(x, y))
HAWSER_FUNCTION(Minus, hn::Sub(x, y))
HAWSER_FUNCTION(MinusFrom, hn::Sub(y, x))
HAWSER_FUNCTION(Times, hn::Mul(x, y))
HAWSER_FUNCTION(Over, hn::Div(x, y))
HAWSER_FUNCTION(Under, hn::Div(y, x))
HAWSER_FUNCTION(TheLarger, Larger(x, y))
HAWSER_FUNCTION(TheSmaller, Smaller(x, y))
HAWSER_FUNCTION(Negative, hn::Neg(x))
HAWSER_FUNCTION(Magnitude, hn::Abs(x))
HAWSER_FUNCTION(Sign, SignOf<T>(x))
HAWSER_FUNCTION(SquareRoot, hn::Sqrt(x))
HAWSER_FUNCTION(InverseRoot, hn::Div(hn::Set(d, T{1}), hn::Sqrt(x)))
HAWSER_FUNCTION(Down, hn::Floor(x))
HAWSER_FUNCTION(Up, hn::Ceil(x))
HAWSER_FUNCTION(Even, hn::Round(x))
HAWSER_FUNCTION(Exp, ExpOf(x))
HAWSER_FUNCTION(Log, LogOf(x))
HAWSER_FUNCTION(Tanh, hn::Tanh(d, x))
HAWSER_FUNCTION(Logistic, LogisticOf(x))
HAWSER_FUNCTION(FromWhole, hn::ConvertTo(d, Whole<T>(x)))
HAWSER_FUNCTION(RoundBf16, Bf16::Round(x))
#if HAWSER_F16
HAWSER_FUNCTION(RoundF16, F16::Round(x))
#endif
HAWSER_FUNCTION(WholePlus, Lanes<T>(hn::Add(Whole<T>(x), Whole<T>(y))))
HAWSER_FUNCTION(WholeMinus, Lanes<T>(hn::Sub(Whole<T>(x), Whole<T>(y))))
HAWSER_FUNCTION(WholeMinusFrom, Lanes<T>(hn::Sub(Whole<T>(y), Whole<T>(x))))
HAWSER_FUNCTION(WholeBoth, hn::And(x, y))
HAWSER_FUNCTION(WholeEither, hn::Or(x, y))
HAWSER_FUNCTION(WholeOneOfTwo, hn::Xor(x, y))
HAWSER_FUNCTION(WholeNotSo, hn::Not(x))
HAWSER_FUNCTION(Equal, hn::Eq(x, y))
// Their Ne of NaN is false by some sets.
HAWSER_FUNCTION(Unequal, hn::Not(hn::Eq(x, y)))
HAWSER_FUNCTION(Below, hn::Lt(x, y))
HAWSER_FUNCTION(AtMost, hn::Le(x, y))
HAWSER_FUNCTION(Above, hn::Lt(y, x))
HAWSER_FUNCTION(AtLeast, hn::Le(y, x))
HAWSER_FUNCTION(Finite, hn::Lt(hn::Abs(x),
                               hn::Set(d, std::numeric_limits<T>::infinity())))
HAWSER_FUNCTION(WholeEqual, Truths<T>(hn::Eq(Whole<T>(x), Whole<T>(y))))
HAWSER_FUNCTION(WholeUnequal, Truths<T>(hn::Ne(Whole<T>(x), Whole<T>(y))))
HAWSER_FUNCTION(WholeBelow, Truths<T>(hn::Gt(Whole<T>(y), Whole<T>(x))))
HAWSER_FUNCTION(WholeAbove, Truths<T>(hn::Gt(Whole<T>(x), Whole<T>(y))))
HAWSER_FUNCTION(WholeAtMost,
                hn::Not(Truths<T>(hn::Gt(Whole<T>(x), Whole<T>(y)))))
HAWSER_FUNCTION(WholeAtLeast,
                hn::Not(Truths<T>(hn::Gt(Whole<T>(y), Whole<T>(x)))))
HAWSER_FUNCTION(Else, hn::IfThenElse(m, x, y))
HAWSER_FUNCTION(Then, hn::IfThenElse(m, y, x))
HAWSER_FUNCTION(NotSo, hn::Not(m))
HAWSER_FUNCTION(Ones, hn::IfThenElseZero(m, hn::Set(d, T{1})))
HAWSER_FUNCTION(WholeOnes,
                hn::IfThenElseZero(m, Lanes<T>(hn::Set(WholeTag<T>(), 1))))

// A function of truths and others.
template <typename Function, ChainOther other>
struct OfTruths {
  static constexpr bool kOfMemory = other == ChainOther::kLanes;
  template <typename T, bool kWhole>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& /*r*/) {
    if constexpr (other == ChainOther::kOne) {
      const Tag<T> d;
      const M<T> y = hn::Ne(hn::Set(d, static_cast<T>(*link.at)), hn::Zero(d));
      HAWSER_EACH(strip.truths[v] = Function::Of(strip.truths[v], y);)
    } else {
      const uint8_t* at = strip.template Read<kWhole, uint8_t>(link);
      HAWSER_EACH(strip.truths[v] =
                      Function::Of(strip.truths[v],
                                   LoadTruths<T>(at + v * Strip<T>::kStep));)
    }
  }
};
#define HAWSER_OF_TRUTHS(Name, ...)                     \
  struct Name {                                         \
    template <typename N>                               \
    static HWY_INLINE N Of([[maybe_unused]] N x, N y) { \
      return __VA_ARGS__;                               \
    }                                                   \
  };
HAWSER_OF_TRUTHS(OtherTruths, y)
HAWSER_OF_TRUTHS(Both, hn::And(x, y))
HAWSER_OF_TRUTHS(Either, hn::Or(x, y))
HAWSER_OF_TRUTHS(OneOfTwo, hn::Xor(x, y))

template <Way way, ChainOther other>
struct Moves {
  static constexpr bool kOfMemory = other == ChainOther::kLanes;
  template <typename T, bool kWhole>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    if constexpr (other == ChainOther::kOne) {
      const auto by = *reinterpret_cast<const hwy::MakeUnsigned<T>*>(link.at);
      HAWSER_EACH(r.a[v] = Lanes<T>(MovedAlike<way>(Whole<T>(r.a[v]), by));)
    } else {
      const Others<T, other, kWhole> by(link, strip);
      HAWSER_EACH(r.a[v] = Lanes<T>(
                      Moved<way>(Whole<T>(r.a[v]), Whole<T>(by.Of(v, r))));)
    }
  }
};

// The others: what a link of one op does.
#define HAWSER_LINK(Name, of_memory, ...)                              \
  struct Name {                                                        \
    static constexpr bool kOfMemory = of_memory;                       \
    template <typename T, bool kWhole>                                 \
    static HWY_INLINE void Run([[maybe_unused]] const ChainLink& link, \
                               [[maybe_unused]] Strip<T>& strip,       \
                               [[maybe_unused]] Registers<T>& r) {     \
      [[maybe_unused]] const Tag<T> d;                                 \
      [[maybe_unused]] constexpr int64_t kStep = Strip<T>::kStep;      \
      __VA_ARGS__                                                      \
    }                                                                  \
  };
HAWSER_LINK(TurnedByOne, false, {
  const auto by = *reinterpret_cast<const WholeOf<T>*>(link.at);
  HAWSER_EACH(r.a[v] =
                  Lanes<T>(Turned(Whole<T>(r.a[v]), static_cast<int>(by)));)
})
HAWSER_LINK(OverOne, false,
            { DivideByOne<T>(r.a, *reinterpret_cast<const T*>(link.at)); })
HAWSER_LINK(TakeBytes, true, {
  const uint8_t* at = strip.template Read<kWhole, uint8_t>(link);
  HAWSER_EACH(r.a[v] = hn::ConvertTo(d, Widened<T>(at + v * kStep));)
})
HAWSER_LINK(Count, false, {
  const auto first = *reinterpret_cast<const int64_t*>(link.at) + strip.first();
  HAWSER_EACH(r.a[v] = Lanes<T>(hn::Iota(
                  WholeTag<T>(), static_cast<WholeOf<T>>(first + v * kStep)));)
})
HAWSER_LINK(Hold, false, { HAWSER_EACH(r.h[v] = r.a[v];) })
HAWSER_LINK(Swap, false, {
  HAWSER_EACH(const V<T> x = r.a[v]; r.a[v] = r.h[v]; r.h[v] = x;)
})
HAWSER_LINK(Ahead, false, {
  const T* at = reinterpret_cast<const T*>(link.at) + strip.first();
  HAWSER_EACH(__builtin_prefetch(at + v * kStep, /*rw=*/0, kSecondCache);)
})
HAWSER_LINK(Give, true, {
  strip.template Give<kWhole>(link, [&](T* to) HWY_ATTR {
    const bool is_aligned =
        reinterpret_cast<uintptr_t>(to) % (kStep * sizeof(T)) == 0;
    if (link.goes_past && is_aligned) {
      HAWSER_EACH(hn::Stream(r.a[v], d, to + v * kStep);)
    } else {
      HAWSER_EACH(hn::StoreU(r.a[v], d, to + v * kStep);)
    }
  });
})
HAWSER_LINK(GiveBools, true, {
  strip.template Give<kWhole, uint8_t>(link, [&](uint8_t* to) HWY_ATTR {
    HAWSER_EACH(StoreTruths<T>(strip.truths[v], to + v * kStep);)
  });
})

template <typename Half>
struct TakeHalves {
  static constexpr bool kOfMemory = true;
  template <typename T, bool kWhole>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    const uint16_t* at = strip.template Read<kWhole, uint16_t>(link);
    HAWSER_EACH(r.a[v] = Half::Load(at + v * Strip<T>::kStep);)
  }
};
template <typename Half>
struct GiveHalves {
  static constexpr bool kOfMemory = true;
  template <typename T, bool kWhole>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    strip.template Give<kWhole, uint16_t>(link, [&](uint16_t* to) HWY_ATTR {
      HAWSER_EACH(Half::Store(r.a[v], to + v * Strip<T>::kStep);)
    });
  }
};

// ---- the table --------------------------------------------------------------

// The code of each op, by what its b is; null: there is no such link.
template <typename T>
struct Table {
  Table() {
    AddReals();
    AddWholes();
    AddTests();
    AddChoices();
    AddMoves();
  }

  ChainCode Find(ChainOp op, ChainOther other) const {
    const auto o = static_cast<int>(op), b = static_cast<int>(other);
    return {reinterpret_cast<void (*)()>(whole[o][b]),
            reinterpret_cast<void (*)()>(rest[o][b])};
  }

  template <typename Do>
  void Link(ChainOp op, ChainOther other) {
    const auto o = static_cast<int>(op), b = static_cast<int>(other);
    whole[o][b] = RunLink<T, Do, true>;
    rest[o][b] = RunLink<T, Do, !Do::kOfMemory>;
  }
  template <typename Function>
  void Alone(ChainOp op) {
    Link<OfLanes<Function, ChainOther::kNone>>(op, ChainOther::kNone);
  }
  // Where b is not a.
  template <typename Function>
  void Apart(ChainOp op) {
    Link<OfLanes<Function, ChainOther::kLanes>>(op, ChainOther::kLanes);
    Link<OfLanes<Function, ChainOther::kOne>>(op, ChainOther::kOne);
    Link<OfLanes<Function, ChainOther::kHeld>>(op, ChainOther::kHeld);
  }
  template <typename Function>
  void With(ChainOp op) {
    Apart<Function>(op);
    Link<OfLanes<Function, ChainOther::kItself>>(op, ChainOther::kItself);
  }
  // Of what two values that live are made of each other by.
  template <typename Function>
  void WithHeld(ChainOp op) {
    With<Function>(op);
    Link<OfHeld<Function>>(op, ChainOther::kToHeld);
  }
  template <typename Function>
  void OnTruths(ChainOp op) {
    Link<OfTruths<Function, ChainOther::kLanes>>(op, ChainOther::kLanes);
    Link<OfTruths<Function, ChainOther::kOne>>(op, ChainOther::kOne);
  }
  template <Way way>
  void Moved(ChainOp op) {
    Link<Moves<way, ChainOther::kLanes>>(op, ChainOther::kLanes);
    Link<Moves<way, ChainOther::kOne>>(op, ChainOther::kOne);
    Link<Moves<way, ChainOther::kHeld>>(op, ChainOther::kHeld);
    Link<Moves<way, ChainOther::kItself>>(op, ChainOther::kItself);
  }

  void AddReals() {
    WithHeld<Plus>(ChainOp::kPlus);
    WithHeld<Minus>(ChainOp::kMinus);
    WithHeld<MinusFrom>(ChainOp::kMinusFrom);
    WithHeld<Times>(ChainOp::kTimes);
    With<Over>(ChainOp::kOver);
    Link<OverOne>(ChainOp::kOverOne, ChainOther::kOne);
    With<Under>(ChainOp::kUnder);
    With<TheLarger>(ChainOp::kLarger);
    With<TheSmaller>(ChainOp::kSmaller);
    Alone<Negative>(ChainOp::kNegative);
    Alone<Magnitude>(ChainOp::kMagnitude);
    Alone<Sign>(ChainOp::kSign);
    Alone<SquareRoot>(ChainOp::kSquareRoot);
    Alone<InverseRoot>(ChainOp::kInverseRoot);
    Alone<Down>(ChainOp::kDown);
    Alone<Up>(ChainOp::kUp);
    Alone<Even>(ChainOp::kEven);
    if constexpr (std::is_same_v<T, float>) {
      Alone<FromWhole>(ChainOp::kFromWhole);
      Alone<Exp>(ChainOp::kExp);
      Alone<Log>(ChainOp::kLog);
      Alone<Tanh>(ChainOp::kTanh);
      Alone<Logistic>(ChainOp::kLogistic);
      Alone<RoundBf16>(ChainOp::kRoundBf16);
#if HAWSER_F16
      Alone<RoundF16>(ChainOp::kRoundF16);
#endif
    }
  }
  void AddWholes() {
    WithHeld<WholePlus>(ChainOp::kWholePlus);
    WithHeld<WholeMinus>(ChainOp::kWholeMinus);
    WithHeld<WholeMinusFrom>(ChainOp::kWholeMinusFrom);
    With<WholeBoth>(ChainOp::kWholeBoth);
    With<WholeEither>(ChainOp::kWholeEither);
    WithHeld<WholeOneOfTwo>(ChainOp::kWholeOneOfTwo);
    Alone<WholeNotSo>(ChainOp::kWholeNotSo);
    Moved<Way::kLeft>(ChainOp::kLeft);
    Moved<Way::kRight>(ChainOp::kRight);
    Moved<Way::kRightSigned>(ChainOp::kRightSigned);
    Link<TurnedByOne>(ChainOp::kTurned, ChainOther::kOne);
  }
  void AddTests() {
    With<Equal>(ChainOp::kEqual);
    With<Unequal>(ChainOp::kUnequal);
    With<Below>(ChainOp::kBelow);
    With<AtMost>(ChainOp::kAtMost);
    With<Above>(ChainOp::kAbove);
    With<AtLeast>(ChainOp::kAtLeast);
    With<WholeEqual>(ChainOp::kWholeEqual);
    With<WholeUnequal>(ChainOp::kWholeUnequal);
    With<WholeBelow>(ChainOp::kWholeBelow);
    With<WholeAtMost>(ChainOp::kWholeAtMost);
    With<WholeAbove>(ChainOp::kWholeAbove);
    With<WholeAtLeast>(ChainOp::kWholeAtLeast);
    Alone<Finite>(ChainOp::kFinite);
  }
  void AddChoices() {
    OnTruths<Both>(ChainOp::kBoth);
    OnTruths<Either>(ChainOp::kEither);
    OnTruths<OneOfTwo>(ChainOp::kOneOfTwo);
    Alone<NotSo>(ChainOp::kNotSo);
    Alone<Ones>(ChainOp::kOnes);
    Alone<WholeOnes>(ChainOp::kWholeOnes);
    Apart<Else>(ChainOp::kElse);
    Apart<Then>(ChainOp::kThen);
  }
  void AddMoves() {
    Apart<Other>(ChainOp::kTake);
    OnTruths<OtherTruths>(ChainOp::kTakeBools);
    if constexpr (std::is_same_v<T, float>) {
      Link<TakeBytes>(ChainOp::kTakeBytes, ChainOther::kLanes);
      Link<TakeHalves<Bf16>>(ChainOp::kTakeBf16, ChainOther::kLanes);
      Link<GiveHalves<Bf16>>(ChainOp::kGiveBf16, ChainOther::kLanes);
#if HAWSER_F16
      Link<TakeHalves<F16>>(ChainOp::kTakeF16, ChainOther::kLanes);
      Link<GiveHalves<F16>>(ChainOp::kGiveF16, ChainOther::kLanes);
#endif
    }
    Link<Count>(ChainOp::kCount, ChainOther::kOne);
    Link<Hold>(ChainOp::kHold, ChainOther::kNone);
    Link<Swap>(ChainOp::kSwap, ChainOther::kNone);
    Link<Ahead>(ChainOp::kAhead, ChainOther::kLanes);
    Link<Give>(ChainOp::kGive, ChainOther::kLanes);
    Link<GiveBools>(ChainOp::kGiveBools, ChainOther::kLanes);
    whole[0][0] = rest[0][0] = EndChain<T>;
  }

  Code<T> whole[kChainOps][kChainOthers] = {};
  Code<T> rest[kChainOps][kChainOthers] = {};
};

// Made when it is asked for first: constants of so many addresses are larger
// than what makes them.
template <typename T>
ChainCode Find(ChainOp op, ChainOther other) {
  static const Table<T> table;
  return table.Find(op, other);
}

template <typename T, bool kWhole>
HWY_NOINLINE void RunStrip(const ChainLink* links, int64_t i, int64_t n) {
  const auto none = hn::Zero(Tag<T>()).raw;
  Strip<T> strip;
  strip.template Begin<kWhole>(i, n);
  reinterpret_cast<Code<T>>(links->code.whole)(links, &strip, none, none, none,
                                               none, none, none, none, none);
}

template <typename T>
void SwapCodes(ChainLink* link) {
  const auto end = reinterpret_cast<void (*)()>(EndChain<T>);
  for (; link->code.whole != end; ++link) {
    const ChainCode code = link->code;
    link->code = {code.rest, code.whole};
  }
}

template <typename T>
void Run(ChainLink* links, int64_t n) {
  constexpr int64_t kLanes = Strip<T>::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    RunStrip<T, true>(links, i, kLanes);
  }
  if (i == n) return;
  // A link goes on to the next one by `whole`.
  SwapCodes<T>(links);
  RunStrip<T, false>(links, i, n - i);
  SwapCodes<T>(links);
}

template <typename T>
constexpr Chains kChains = {Find<T>, Run<T>};

const Chains* FindChains(int64_t width) {
  if (width == 4) return &kChains<float>;
  if (width == 8) return &kChains<double>;
  return nullptr;
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

const Chains* FindChains(int64_t width, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindChains(width))
}

bool InversesPay(Isa isa) { return isa >= Isa::kAvx2 && !IsOfAmd(); }

}  // namespace hawser::cpu
#endif  // HWY_ONCE
