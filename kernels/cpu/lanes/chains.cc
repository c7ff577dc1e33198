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

// So many vectors are in registers at a time.
#if HWY_TARGET == HWY_AVX3
constexpr int kVectors = 8;
#else
constexpr int kVectors = 4;
#endif

#define HAWSER_EACH _Pragma("GCC unroll 8") for (int v = 0; v < kVectors; ++v)

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
    HAWSER_EACH a[v] = hn::Mul(a[v], inverse);
    return;
  }
#if HWY_NATIVE_FMA
  // Of 0 the least is the largest.
  auto least = hn::Set(du, static_cast<Bits>(~Bits{0}));
  auto most = hn::Zero(du);
  HAWSER_EACH {
    const auto twice = hn::Add(hn::BitCast(du, a[v]), hn::BitCast(du, a[v]));
    least = hn::Min(least, hn::Sub(twice, hn::Set(du, Bits{1})));
    most = hn::Max(most, twice);
  }
  const auto above =
      hn::Gt(most, hn::Set(du, (kBias + 2 * kAway) << (kMantissa + 1)));
  const auto below =
      hn::Lt(least, hn::Set(du, (kBias - 2 * kAway) << (kMantissa + 1)));
  if (is_near && hn::AllFalse(du, hn::Or(above, below))) {
    const V<T> sign = hn::And(hn::SignBit(d), y);
    HAWSER_EACH {
      [[maybe_unused]] const V<T> x = a[v];
      const V<T> q0 = hn::Mul(x, inverse);
      const V<T> q1 = hn::MulAdd(hn::NegMulAdd(q0, y, x), inverse, q0);
      const V<T> q2 = hn::MulAdd(hn::NegMulAdd(q1, y, x), inverse, q1);
      // A remainder of nothing takes the sign from 0.
      a[v] = hn::Or(q2, hn::And(hn::Xor(x, sign), hn::SignBit(d)));
    }
    return;
  }
#endif
  HAWSER_EACH a[v] = hn::Div(a[v], y);
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

// ---- chains -----------------------------------------------------------------

// Lanes [i, i + n) of what a link names, n at most a strip.
template <typename T, bool kWhole>
class Strip {
 public:
  static constexpr auto kLanes =
      static_cast<int64_t>(kVectors * hn::MaxLanes(Tag<T>()));

  HWY_INLINE Strip(int64_t i, int64_t n) : i_(i), n_(n) {
    if constexpr (kWhole) return;
    const Tag<T> d;
    constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
    HAWSER_EACH hn::StoreU(hn::Zero(d), d, rest_ + v * kStep);
  }

  // At least kLanes elements, those behind n any.
  template <typename U = T>
  HWY_INLINE const U* Read(const char* lanes) {
    const U* from = reinterpret_cast<const U*>(lanes) + i_;
    if constexpr (kWhole) return from;
    U* const rest = reinterpret_cast<U*>(rest_);
    __builtin_memcpy(rest, from, n_ * sizeof(U));
    return rest;
  }
  // `write` leaves kLanes elements at its argument.
  template <typename U = T, typename Write>
  HWY_INLINE void Give(char* lanes, Write write) {
    U* to = reinterpret_cast<U*>(lanes) + i_;
    if constexpr (kWhole) {
      write(to);
    } else {
      U* const rest = reinterpret_cast<U*>(rest_);
      write(rest);
      __builtin_memcpy(to, rest, n_ * sizeof(U));
    }
  }

 private:
  const int64_t i_, n_;
  HWY_ALIGN T rest_[kWhole ? 1 : kLanes];
};

constexpr int CodeOf(ChainOp op, ChainOther other) {
  return static_cast<int>(op) * 4 + static_cast<int>(other);
}
// What becomes `to`, a or m, of lanes x.
#define HAWSER_ALONE(Op, to, ...)              \
  case CodeOf(ChainOp::Op, ChainOther::kNone): \
    HAWSER_EACH {                              \
      [[maybe_unused]] const V<T> x = a[v];    \
      to[v] = __VA_ARGS__;                     \
    }                                          \
    break;
// Of lanes x and others y.
#define HAWSER_INDEPENDENT_TURNS_ONE(Op, to, ...)                             \
  case CodeOf(ChainOp::Op, ChainOther::kLanes): {                             \
    const T* at = strip.Read(link->at);                                       \
    HAWSER_EACH {                                                             \
      [[maybe_unused]] const V<T> x = a[v], y = hn::LoadU(d, at + v * kStep); \
      to[v] = __VA_ARGS__;                                                    \
    }                                                                         \
    break;                                                                    \
  }                                                                           \
  case CodeOf(ChainOp::Op, ChainOther::kOne): {                               \
    const V<T> y = hn::Set(d, *reinterpret_cast<const T*>(link->at));         \
    HAWSER_EACH {                                                             \
      [[maybe_unused]] const V<T> x = a[v];                                   \
      to[v] = __VA_ARGS__;                                                    \
    }                                                                         \
    break;                                                                    \
  }
#define HAWSER_ITSELF(Op, to, ...)                    \
  case CodeOf(ChainOp::Op, ChainOther::kItself):      \
    HAWSER_EACH {                                     \
      [[maybe_unused]] const V<T> x = a[v], y = a[v]; \
      to[v] = __VA_ARGS__;                            \
    }                                                 \
    break;
#define HAWSER_WITH(Op, to, ...)                    \
  HAWSER_INDEPENDENT_TURNS_ONE(Op, to, __VA_ARGS__) \
  HAWSER_ITSELF(Op, to, __VA_ARGS__)
#define HAWSER_WHOLE(Op, Function) \
  HAWSER_WITH(Op, a, Lanes<T>(hn::Function(Whole<T>(x), Whole<T>(y))))
#define HAWSER_MOVES(Op, way)                                                 \
  case CodeOf(ChainOp::Op, ChainOther::kLanes): {                             \
    const T* at = strip.Read(link->at);                                       \
    HAWSER_EACH {                                                             \
      const auto by = Whole<T>(hn::LoadU(d, at + v * kStep));                 \
      a[v] = Lanes<T>(Moved<way>(Whole<T>(a[v]), by));                        \
    }                                                                         \
    break;                                                                    \
  }                                                                           \
  case CodeOf(ChainOp::Op, ChainOther::kOne): {                               \
    const auto by = *reinterpret_cast<const hwy::MakeUnsigned<T>*>(link->at); \
    HAWSER_EACH a[v] = Lanes<T>(MovedAlike<way>(Whole<T>(a[v]), by));         \
    break;                                                                    \
  }                                                                           \
  case CodeOf(ChainOp::Op, ChainOther::kItself):                              \
    HAWSER_EACH {                                                             \
      a[v] = Lanes<T>(Moved<way>(Whole<T>(a[v]), Whole<T>(a[v])));            \
    }                                                                         \
    break;
#define HAWSER_TURNS                                                 \
  case CodeOf(ChainOp::kTurned, ChainOther::kOne): {                 \
    const auto by = *reinterpret_cast<const WholeOf<T>*>(link->at);  \
    HAWSER_EACH {                                                    \
      a[v] = Lanes<T>(Turned(Whole<T>(a[v]), static_cast<int>(by))); \
    }                                                                \
    break;                                                           \
  }
#define HAWSER_AHEAD                                                          \
  case CodeOf(ChainOp::kAhead, ChainOther::kLanes): {                         \
    const T* at = reinterpret_cast<const T*>(link->at) + i;                   \
    HAWSER_EACH __builtin_prefetch(at + v * kStep, /*rw=*/0, kSecondCache);   \
    break;                                                                    \
  }
// Of whole numbers that Function compares in this order or the other one.
#define HAWSER_WHOLE_TEST(Op, Function, x0, y0) \
  HAWSER_WITH(Op, m, Truths<T>(hn::Function(Whole<T>(x0), Whole<T>(y0))))
// Of truths x and others y.
#define HAWSER_TRUTHS(Op, ...)                                                 \
  case CodeOf(ChainOp::Op, ChainOther::kLanes): {                              \
    const uint8_t* at = strip.template Read<uint8_t>(link->at);                \
    HAWSER_EACH {                                                              \
      [[maybe_unused]] const M<T> x = m[v];                                    \
      const M<T> y = LoadTruths<T>(at + v * kStep);                            \
      m[v] = __VA_ARGS__;                                                      \
    }                                                                          \
    break;                                                                     \
  }                                                                            \
  case CodeOf(ChainOp::Op, ChainOther::kOne): {                                \
    const M<T> y = hn::Ne(hn::Set(d, static_cast<T>(*link->at)), hn::Zero(d)); \
    HAWSER_EACH {                                                              \
      [[maybe_unused]] const M<T> x = m[v];                                    \
      m[v] = __VA_ARGS__;                                                      \
    }                                                                          \
    break;                                                                     \
  }
#define HAWSER_OF_TRUTHS(Op, to, ...)          \
  case CodeOf(ChainOp::Op, ChainOther::kNone): \
    HAWSER_EACH to[v] = __VA_ARGS__;           \
    break;

#define HAWSER_REALS                                                    \
  HAWSER_WITH(kPlus, a, hn::Add(x, y))                                  \
  HAWSER_WITH(kMinus, a, hn::Sub(x, y))                                 \
  HAWSER_WITH(kMinusFrom, a, hn::Sub(y, x))                             \
  HAWSER_WITH(kTimes, a, hn::Mul(x, y))                                 \
  HAWSER_WITH(kOver, a, hn::Div(x, y))                                  \
  HAWSER_WITH(kUnder, a, hn::Div(y, x))                                 \
  case CodeOf(ChainOp::kOverOne, ChainOther::kOne):                     \
    DivideByOne<T>(a, *reinterpret_cast<const T*>(link->at));           \
    break;                                                              \
  HAWSER_WITH(kLarger, a, Larger(x, y))                                 \
  HAWSER_WITH(kSmaller, a, Smaller(x, y))                               \
  HAWSER_ALONE(kNegative, a, hn::Neg(x))                                \
  HAWSER_ALONE(kMagnitude, a, hn::Abs(x))                               \
  HAWSER_ALONE(kSign, a, SignOf<T>(x))                                  \
  HAWSER_ALONE(kSquareRoot, a, hn::Sqrt(x))                             \
  HAWSER_ALONE(kInverseRoot, a, hn::Div(hn::Set(d, T{1}), hn::Sqrt(x))) \
  HAWSER_ALONE(kDown, a, hn::Floor(x))                                  \
  HAWSER_ALONE(kUp, a, hn::Ceil(x))                                     \
  HAWSER_ALONE(kEven, a, hn::Round(x))
#define HAWSER_TESTS                                                      \
  HAWSER_WITH(kEqual, m, hn::Eq(x, y))                                    \
  /* Their Ne of NaN is false by some sets. */                            \
  HAWSER_WITH(kUnequal, m, hn::Not(hn::Eq(x, y)))                         \
  HAWSER_WITH(kBelow, m, hn::Lt(x, y))                                    \
  HAWSER_WITH(kAtMost, m, hn::Le(x, y))                                   \
  HAWSER_WITH(kAbove, m, hn::Lt(y, x))                                    \
  HAWSER_WITH(kAtLeast, m, hn::Le(y, x))                                  \
  HAWSER_ALONE(                                                           \
      kFinite, m,                                                         \
      hn::Lt(hn::Abs(x), hn::Set(d, std::numeric_limits<T>::infinity()))) \
  HAWSER_WHOLE_TEST(kWholeEqual, Eq, x, y)                                \
  HAWSER_WHOLE_TEST(kWholeUnequal, Ne, x, y)                              \
  HAWSER_WHOLE_TEST(kWholeBelow, Gt, y, x)                                \
  HAWSER_WHOLE_TEST(kWholeAbove, Gt, x, y)                                \
  HAWSER_WITH(kWholeAtMost, m,                                            \
              hn::Not(Truths<T>(hn::Gt(Whole<T>(x), Whole<T>(y)))))       \
  HAWSER_WITH(kWholeAtLeast, m,                                           \
              hn::Not(Truths<T>(hn::Gt(Whole<T>(y), Whole<T>(x)))))
#define HAWSER_CHOICES                                                   \
  HAWSER_TRUTHS(kTakeBools, y)                                           \
  HAWSER_TRUTHS(kMask, y)                                                \
  HAWSER_TRUTHS(kBoth, hn::And(x, y))                                    \
  HAWSER_TRUTHS(kEither, hn::Or(x, y))                                   \
  HAWSER_TRUTHS(kOneOfTwo, hn::Xor(x, y))                                \
  HAWSER_OF_TRUTHS(kNotSo, m, hn::Not(m[v]))                             \
  HAWSER_OF_TRUTHS(kOnes, a, hn::IfThenElseZero(m[v], hn::Set(d, T{1}))) \
  HAWSER_OF_TRUTHS(                                                      \
      kWholeOnes, a,                                                     \
      hn::IfThenElseZero(m[v], Lanes<T>(hn::Set(WholeTag<T>(), 1))))     \
  HAWSER_INDEPENDENT_TURNS_ONE(kElse, a, hn::IfThenElse(m[v], x, y))     \
  HAWSER_INDEPENDENT_TURNS_ONE(kThen, a, hn::IfThenElse(m[v], y, x))

// What is there for lanes of 4 bytes alone: false for any other link.
template <bool kWhole>
HWY_INLINE bool RunF32(const ChainLink* link, Strip<float, kWhole>& strip,
                       V<float> (&a)[kVectors]) {
  using T = float;
  const Tag<T> d;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  switch (CodeOf(link->op, link->other)) {
    HAWSER_ALONE(kExp, a, ExpOf(x))
    HAWSER_ALONE(kLog, a, LogOf(x))
    HAWSER_ALONE(kTanh, a, hn::Tanh(d, x))
    HAWSER_ALONE(kLogistic, a, LogisticOf(x))
    HAWSER_ALONE(kFromWhole, a, hn::ConvertTo(d, Whole<T>(x)))
    case CodeOf(ChainOp::kTakeBytes, ChainOther::kLanes): {
      const uint8_t* at = strip.template Read<uint8_t>(link->at);
      HAWSER_EACH a[v] = hn::ConvertTo(d, Widened<T>(at + v * kStep));
      break;
    }
    default:
      return false;
  }
  return true;
}

// Past the caches where whole vectors belong to `to`, which strips that are not
// whole copy.
template <typename T, bool kWhole>
HWY_INLINE void StorePast(const V<T> (&a)[kVectors], T* to) {
  const Tag<T> d;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(to) % (kStep * sizeof(T)) == 0;
  if (kWhole && is_aligned) {
    HAWSER_EACH hn::Stream(a[v], d, to + v * kStep);
  } else {
    HAWSER_EACH hn::StoreU(a[v], d, to + v * kStep);
  }
}

template <typename T, bool kWhole>
HWY_INLINE void RunStrip(const ChainLink* link, int64_t i, int64_t n) {
  const Tag<T> d;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  Strip<T, kWhole> strip(i, n);
  V<T> a[kVectors];
  M<T> m[kVectors];
  HAWSER_EACH {
    a[v] = hn::Zero(d);
    m[v] = hn::Eq(a[v], a[v]);
  }
  for (;; ++link) {
    switch (CodeOf(link->op, link->other)) {
      HAWSER_INDEPENDENT_TURNS_ONE(kTake, a, y)
      HAWSER_REALS
      HAWSER_TESTS
      HAWSER_CHOICES
      HAWSER_WHOLE(kWholePlus, Add)
      HAWSER_WHOLE(kWholeMinus, Sub)
      HAWSER_WITH(kWholeMinusFrom, a,
                  Lanes<T>(hn::Sub(Whole<T>(y), Whole<T>(x))))
      HAWSER_WHOLE(kWholeBoth, And)
      HAWSER_WHOLE(kWholeEither, Or)
      HAWSER_WHOLE(kWholeOneOfTwo, Xor)
      HAWSER_ALONE(kWholeNotSo, a, Lanes<T>(hn::Not(Whole<T>(x))))
      HAWSER_MOVES(kLeft, Way::kLeft)
      HAWSER_MOVES(kRight, Way::kRight)
      HAWSER_MOVES(kRightSigned, Way::kRightSigned)
      HAWSER_TURNS
      case CodeOf(ChainOp::kCount, ChainOther::kOne): {
        const auto first = *reinterpret_cast<const int64_t*>(link->at) + i;
        HAWSER_EACH {
          a[v] = Lanes<T>(hn::Iota(WholeTag<T>(),
                                   static_cast<WholeOf<T>>(first + v * kStep)));
        }
        break;
      }
      HAWSER_AHEAD
      case CodeOf(ChainOp::kGive, ChainOther::kLanes):
        strip.Give(link->at, [&](T* to) HWY_ATTR {
          HAWSER_EACH hn::StoreU(a[v], d, to + v * kStep);
        });
        break;
      case CodeOf(ChainOp::kGivePast, ChainOther::kLanes):
        strip.Give(link->at,
                   [&](T* to) HWY_ATTR { StorePast<T, kWhole>(a, to); });
        break;
      case CodeOf(ChainOp::kGiveBools, ChainOther::kLanes):
        strip.template Give<uint8_t>(link->at, [&](uint8_t* to) HWY_ATTR {
          HAWSER_EACH StoreTruths<T>(m[v], to + v * kStep);
        });
        break;
      default:
        if constexpr (std::is_same_v<T, float>) {
          if (RunF32<kWhole>(link, strip, a)) break;
        }
        return;
    }
  }
}

template <typename T>
void Run(const ChainLink* links, int64_t n) {
  constexpr int64_t kLanes = Strip<T, true>::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    RunStrip<T, true>(links, i, kLanes);
  }
  if (i < n) RunStrip<T, false>(links, i, n - i);
}

ChainFn FindChain(int64_t width) {
  if (width == 4) return Run<float>;
  if (width == 8) return Run<double>;
  return nullptr;
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

ChainFn FindChain(int64_t width, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindChain(width))
}

bool InversesPay(Isa isa) { return isa >= Isa::kAvx2 && !IsOfAmd(); }

}  // namespace hawser::cpu
#endif  // HWY_ONCE
