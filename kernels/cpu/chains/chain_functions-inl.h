// The functions that links apply to each vector, by name: of chains.cc, as
// chain_math-inl.h.
#if defined(HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_
#undef HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_
#else
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_FUNCTIONS_INL_H_
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_elementary-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// Of lanes x, others y and truths m: lanes or truths.
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
HAWSER_FUNCTION(LogPlusOne, LogPlusOneOf(x))
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

// Of truths x and others y.
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
