// The functions that links apply to each vector. chains.cc includes it, which
// Highway compiles once for each instruction set.
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

// Functions of lanes x, operand lanes y and a mask m; they return lanes or a
// mask.
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
HAWSER_FUNCTION(Load, y)
HAWSER_FUNCTION(Add, hn::Add(x, y))
HAWSER_FUNCTION(Subtract, hn::Sub(x, y))
HAWSER_FUNCTION(ReverseSubtract, hn::Sub(y, x))
HAWSER_FUNCTION(Multiply, hn::Mul(x, y))
HAWSER_FUNCTION(Divide, hn::Div(x, y))
HAWSER_FUNCTION(ReverseDivide, hn::Div(y, x))
HAWSER_FUNCTION(Max, MaxOf(x, y))
HAWSER_FUNCTION(Min, MinOf(x, y))
HAWSER_FUNCTION(Negate, hn::Neg(x))
HAWSER_FUNCTION(Abs, hn::Abs(x))
HAWSER_FUNCTION(Sign, SignOf<T>(x))
HAWSER_FUNCTION(Sqrt, hn::Sqrt(x))
HAWSER_FUNCTION(Rsqrt, hn::Div(hn::Set(d, T{1}), hn::Sqrt(x)))
HAWSER_FUNCTION(Floor, hn::Floor(x))
HAWSER_FUNCTION(Ceil, hn::Ceil(x))
HAWSER_FUNCTION(RoundEven, hn::Round(x))
HAWSER_FUNCTION(Exp, ExpOf(x))
HAWSER_FUNCTION(Log, LogOf(x))
HAWSER_FUNCTION(Tanh, hn::Tanh(d, x))
HAWSER_FUNCTION(Logistic, LogisticOf(x))
HAWSER_FUNCTION(Log1p, Log1pOf(x))
HAWSER_FUNCTION(IntToFloat, hn::ConvertTo(d, Ints<T>(x)))
HAWSER_FUNCTION(RoundBf16, Bf16::Round(x))
#if HAWSER_F16
HAWSER_FUNCTION(RoundF16, F16::Round(x))
#endif
HAWSER_FUNCTION(IntAdd, Lanes<T>(hn::Add(Ints<T>(x), Ints<T>(y))))
HAWSER_FUNCTION(IntSubtract, Lanes<T>(hn::Sub(Ints<T>(x), Ints<T>(y))))
HAWSER_FUNCTION(IntReverseSubtract, Lanes<T>(hn::Sub(Ints<T>(y), Ints<T>(x))))
HAWSER_FUNCTION(IntAnd, hn::And(x, y))
HAWSER_FUNCTION(IntOr, hn::Or(x, y))
HAWSER_FUNCTION(IntXor, hn::Xor(x, y))
HAWSER_FUNCTION(IntNot, hn::Not(x))
HAWSER_FUNCTION(Equal, hn::Eq(x, y))
// hn::Ne of NaN is false with some instruction sets.
HAWSER_FUNCTION(NotEqual, hn::Not(hn::Eq(x, y)))
HAWSER_FUNCTION(Less, hn::Lt(x, y))
HAWSER_FUNCTION(LessEqual, hn::Le(x, y))
HAWSER_FUNCTION(Greater, hn::Lt(y, x))
HAWSER_FUNCTION(GreaterEqual, hn::Le(y, x))
HAWSER_FUNCTION(IsFinite,
                hn::Lt(hn::Abs(x),
                       hn::Set(d, std::numeric_limits<T>::infinity())))
HAWSER_FUNCTION(IntEqual, AsMask<T>(hn::Eq(Ints<T>(x), Ints<T>(y))))
HAWSER_FUNCTION(IntNotEqual, AsMask<T>(hn::Ne(Ints<T>(x), Ints<T>(y))))
HAWSER_FUNCTION(IntLess, AsMask<T>(hn::Gt(Ints<T>(y), Ints<T>(x))))
HAWSER_FUNCTION(IntGreater, AsMask<T>(hn::Gt(Ints<T>(x), Ints<T>(y))))
HAWSER_FUNCTION(IntLessEqual,
                hn::Not(AsMask<T>(hn::Gt(Ints<T>(x), Ints<T>(y)))))
HAWSER_FUNCTION(IntGreaterEqual,
                hn::Not(AsMask<T>(hn::Gt(Ints<T>(y), Ints<T>(x)))))
HAWSER_FUNCTION(BlendNot, hn::IfThenElse(m, x, y))
HAWSER_FUNCTION(Blend, hn::IfThenElse(m, y, x))
HAWSER_FUNCTION(Not, hn::Not(m))
HAWSER_FUNCTION(MaskToFloat, hn::IfThenElseZero(m, hn::Set(d, T{1})))
HAWSER_FUNCTION(MaskToInt,
                hn::IfThenElseZero(m, Lanes<T>(hn::Set(IntTag<T>(), 1))))

// Functions of a mask x and an operand mask y.
#define HAWSER_MASK_FUNCTION(Name, ...)                 \
  struct Name {                                         \
    template <typename N>                               \
    static HWY_INLINE N Of([[maybe_unused]] N x, N y) { \
      return __VA_ARGS__;                               \
    }                                                   \
  };
HAWSER_MASK_FUNCTION(LoadMask, y)
HAWSER_MASK_FUNCTION(And, hn::And(x, y))
HAWSER_MASK_FUNCTION(Or, hn::Or(x, y))
HAWSER_MASK_FUNCTION(Xor, hn::Xor(x, y))

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
