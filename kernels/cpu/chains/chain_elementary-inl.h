// Elementary functions of one vector. chains.cc and op_loops.cc include it,
// which Highway compiles once for each instruction set.
#if defined(HAWSER_KERNELS_CPU_CHAINS_CHAIN_ELEMENTARY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_CHAINS_CHAIN_ELEMENTARY_INL_H_
#undef HAWSER_KERNELS_CPU_CHAINS_CHAIN_ELEMENTARY_INL_H_
#else
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_ELEMENTARY_INL_H_
#endif

#include <math.h>  // exp, lgamma_r

#include <cstdint>
#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_library-inl.h"
#include "kernels/cpu/chains/chain_math-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// Highway's e^x, within 1 ulp (measured over all f32), for NaN and arguments
// far above the largest one too. AVX-512 scales by powers of 2, so it needs
// Highway's polynomial alone, within 1.04 ulp (measured for one f32 in three).
HWY_INLINE V<float> ExpOf(V<float> a) {
  const Tag<float> d;
#if HWY_TARGET == HWY_AVX3
  // Max and Min of NaN and a number return the second operand.
  const auto x = hn::Max(hn::Set(d, -128.0f), hn::Min(hn::Set(d, 128.0f), a));
  const auto power = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  // x - power * log(2), whose log(2) is a sum of two constants.
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

// Highway's logarithm, for zero, negative numbers, infinity and NaN too.
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

// The library's overflows before the largest numbers do; C's is there for
// these.
HWY_INLINE V<double> ExpOf(V<double> a) {
  const Tag<double> d;
  return ReplacedBy(a, Call<SleefExp>(a),
                    hn::Not(hn::Gt(a, hn::Set(d, 709.78))),
                    [](double x) { return ::exp(x); });
}

HWY_INLINE V<double> LogOf(V<double> a) { return Call<SleefLog>(a); }

HWY_INLINE V<float> TanhOf(V<float> a) { return hn::Tanh(Tag<float>(), a); }
HWY_INLINE V<double> TanhOf(V<double> a) { return Call<SleefTanh>(a); }

// 1 / (1 + e^-a). It takes e^-|a| and the sign of a, so that e never overflows.
template <typename N>
HWY_INLINE N LogisticOf(N a) {
  const hn::DFromV<N> d;
  const auto one = hn::Set(d, 1);
  const auto e = ExpOf(hn::Neg(hn::Abs(a)));
  const auto above = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), e, one);
  return hn::Div(above, hn::Add(one, e));
}

// The library's loses what cancels below 0, and overflows for the largest
// numbers; C's is there for both.
template <typename N>
HWY_INLINE N LgammaOf(N a) {
  const hn::DFromV<N> d;
  using T = hn::TFromD<decltype(d)>;
  constexpr auto kLarge = static_cast<T>(sizeof(T) == 4 ? 0x1p110 : 0x1p1000);
  const auto there =
      hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, hn::Set(d, kLarge)));
  return ReplacedBy(a, Call<SleefLgamma>(a), there, [](T x) {
    int sign;
    if constexpr (sizeof(T) == 4) {
      return ::lgammaf_r(x, &sign);
    } else {
      return ::lgamma_r(x, &sign);
    }
  });
}

// The library's overflows for the largest numbers, where 1 is nothing.
HWY_INLINE V<double> Log1pOf(V<double> a) {
  const Tag<double> d;
  const auto is_large = hn::Gt(a, hn::Set(d, 0x1p120));
  const auto log = Call<SleefLog1p>(a);
  if (HWY_LIKELY(hn::AllFalse(d, is_large))) return log;
  return hn::IfThenElse(is_large, LogOf(a), log);
}

// log(1 + a), within 0.97 ulp (measured over all f32). It is Highway's
// polynomial of m, where 1 + a is a power of 2 times m and
// sqrt(1/2) <= m < sqrt(2), and a correction by the slope there for the part of
// a that the sum 1 + a lost.
HWY_INLINE V<float> Log1pOf(V<float> a) {
  const Tag<float> d;
  const hn::RebindToSigned<Tag<float>> di;
  constexpr int32_t kRootOfHalf = 0x3f3504f3, kMantissa = 0x7fffff;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto one = hn::Set(d, 1.0f);
  const auto sum = hn::Add(a, one);
  const auto lost = hn::Sub(a, hn::Sub(sum, one));
  const auto bits = hn::Sub(hn::BitCast(di, sum), hn::Set(di, kRootOfHalf));
  const auto power = hn::ShiftRight<23>(bits);
  const auto m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(di, kMantissa)),
                                        hn::Set(di, kRootOfHalf)));
  // 2 to the -power; 0 for powers so large that nothing is lost.
  const auto scale =
      hn::BitCast(d, hn::ShiftLeft<23>(hn::Max(hn::Sub(hn::Set(di, 127), power),
                                               hn::Zero(di))));
  const auto part = hn::Mul(lost, scale);
  const auto f = hn::Sub(m, one);
  const auto s = hn::Div(f, hn::Add(f, hn::Set(d, 2.0f)));
  const auto poly = hn::impl::LogImpl<float>().LogPoly(d, s);
  const auto k = hn::ConvertTo(d, power);
  // 1 / m as a polynomial of s, near enough.
  const auto inverse = hn::MulAdd(hn::Add(s, s), hn::Sub(s, one), one);
  const auto upper =
      hn::MulAdd(k, hn::Set(d, 9.0580006145e-6f), hn::Mul(part, inverse));
  const auto lower = hn::MulSub(s, hn::Sub(f, poly), upper);
  const auto log = hn::MulAdd(k, hn::Set(d, 0.69313812256f), hn::Sub(f, lower));
  const auto small = hn::IfThenElse(hn::Eq(sum, one), a, log);
  const auto none = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto least =
      hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), hn::Set(d, -kInfinity), none);
  const auto there = hn::IfThenElse(hn::Gt(sum, hn::Zero(d)), small, least);
  return hn::IfThenElse(hn::Lt(a, hn::Set(d, kInfinity)), there, a);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
