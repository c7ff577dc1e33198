// Compiled for each set of instructions in turn; see loops.cc.
#include "kernels/cpu/lanes/chains.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/ops/elementwise/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lanes/chains.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Behind it, as they ask.
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/cpu/lanes/by_isa.h"

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

// So many vectors are in registers at a time.
#if HWY_TARGET == HWY_AVX3
constexpr int kVectors = 8;
#else
constexpr int kVectors = 4;
#endif

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
// nor what is far above the largest argument.
HWY_INLINE V<float> ExpOf(V<float> a) {
  const Tag<float> d;
  const auto e = hn::Exp(d, hn::Min(a, hn::Set(d, 128.0f)));
  return hn::IfThenElse(hn::IsNaN(a), a, e);
}

// Likewise, which knows only positive finite numbers.
HWY_INLINE V<float> LogOf(V<float> a) {
  const Tag<float> d;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto zero = hn::Zero(d);
  const auto none = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto large = hn::IfThenElse(hn::Lt(a, hn::Set(d, kInfinity)),
                                    hn::Log(d, a), a);
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

// ---- chains -----------------------------------------------------------------

// Lanes [i, i + n) of what a link names, n at most a strip.
template <typename T, bool kWhole>
class Strip {
 public:
  static constexpr auto kLanes =
      static_cast<int64_t>(kVectors * hn::MaxLanes(Tag<T>()));

  Strip(int64_t i, int64_t n) : i_(i), n_(n) {}

  // At least kLanes elements, those behind n any.
  HWY_INLINE const T* Read(const char* lanes) {
    const T* from = reinterpret_cast<const T*>(lanes) + i_;
    if constexpr (kWhole) return from;
    for (int64_t k = 0; k < n_; ++k) rest_[k] = from[k];
    return rest_;
  }
  // `write` leaves kLanes elements at its argument.
  template <typename Write>
  HWY_INLINE void Give(char* lanes, Write write) {
    T* to = reinterpret_cast<T*>(lanes) + i_;
    if constexpr (kWhole) {
      write(to);
    } else {
      write(rest_);
      for (int64_t k = 0; k < n_; ++k) to[k] = rest_[k];
    }
  }

 private:
  const int64_t i_, n_;
  HWY_ALIGN T rest_[kWhole ? 1 : kLanes] = {};
};

#define HAWSER_EACH _Pragma("GCC unroll 8") for (int v = 0; v < kVectors; ++v)
constexpr int CodeOf(ChainOp op, ChainOther other) {
  return static_cast<int>(op) * 4 + static_cast<int>(other);
}
#define HAWSER_ALONE(Op, ...)                         \
  case CodeOf(ChainOp::Op, ChainOther::kNone):        \
    HAWSER_EACH {                                     \
      const V<T> x = a[v];                            \
      a[v] = __VA_ARGS__;                             \
    }                                                 \
    break;
#define HAWSER_WITH(Op, ...)                                     \
  case CodeOf(ChainOp::Op, ChainOther::kLanes): {                \
    const T* at = strip.Read(link->at);                          \
    HAWSER_EACH {                                                \
      const V<T> x = a[v], y = hn::LoadU(d, at + v * kStep);     \
      a[v] = __VA_ARGS__;                                        \
    }                                                            \
    break;                                                       \
  }                                                              \
  case CodeOf(ChainOp::Op, ChainOther::kOne): {                  \
    const V<T> y = hn::Set(d, *reinterpret_cast<const T*>(link->at)); \
    HAWSER_EACH {                                                \
      const V<T> x = a[v];                                       \
      a[v] = __VA_ARGS__;                                        \
    }                                                            \
    break;                                                       \
  }                                                              \
  case CodeOf(ChainOp::Op, ChainOther::kItself):                 \
    HAWSER_EACH {                                                \
      const V<T> x = a[v], y = a[v];                             \
      a[v] = __VA_ARGS__;                                        \
    }                                                            \
    break;

template <typename T, bool kWhole>
HWY_INLINE void RunStrip(const char* in, const ChainLink* link, char* out,
                         int64_t i, int64_t n) {
  const Tag<T> d;
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  Strip<T, kWhole> strip(i, n);
  V<T> a[kVectors];
  const auto store = [&](T* to) HWY_ATTR {
    HAWSER_EACH hn::StoreU(a[v], d, to + v * kStep);
  };
  const auto put = [&](T* to) HWY_ATTR {
    const bool aligned =
        reinterpret_cast<uintptr_t>(to) % (kStep * sizeof(T)) == 0;
    if (!kWhole || !aligned || link->op == ChainOp::kEnd) return store(to);
    HAWSER_EACH hn::Stream(a[v], d, to + v * kStep);
  };
  const T* from = strip.Read(in);
  HAWSER_EACH a[v] = hn::LoadU(d, from + v * kStep);
  for (;; ++link) {
    switch (CodeOf(link->op, link->other)) {
      HAWSER_WITH(kPlus, hn::Add(x, y))
      HAWSER_WITH(kMinus, hn::Sub(x, y))
      HAWSER_WITH(kMinusFrom, hn::Sub(y, x))
      HAWSER_WITH(kTimes, hn::Mul(x, y))
      HAWSER_WITH(kOver, hn::Div(x, y))
      HAWSER_WITH(kUnder, hn::Div(y, x))
      HAWSER_WITH(kLarger, Larger(x, y))
      HAWSER_WITH(kSmaller, Smaller(x, y))
      HAWSER_ALONE(kNegative, hn::Neg(x))
      HAWSER_ALONE(kMagnitude, hn::Abs(x))
      HAWSER_ALONE(kSign, SignOf<T>(x))
      HAWSER_ALONE(kSquareRoot, hn::Sqrt(x))
      HAWSER_ALONE(kInverseRoot, hn::Div(hn::Set(d, T{1}), hn::Sqrt(x)))
      HAWSER_ALONE(kDown, hn::Floor(x))
      HAWSER_ALONE(kUp, hn::Ceil(x))
      HAWSER_ALONE(kEven, hn::Round(x))
      case CodeOf(ChainOp::kKeep, ChainOther::kLanes):
        strip.Give(link->at, store);
        break;
      default:
        if constexpr (std::is_same_v<T, float>) {
          switch (CodeOf(link->op, link->other)) {
            HAWSER_ALONE(kExp, ExpOf(x))
            HAWSER_ALONE(kLog, LogOf(x))
            HAWSER_ALONE(kTanh, hn::Tanh(d, x))
            HAWSER_ALONE(kLogistic, LogisticOf(x))
            default:
              return strip.Give(out, put);
          }
          break;
        }
        return strip.Give(out, put);
    }
  }
}

template <typename T>
void Run(const char* in, const ChainLink* links, char* out, int64_t n) {
  constexpr int64_t kLanes = Strip<T, true>::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    RunStrip<T, true>(in, links, out, i, kLanes);
  }
  if (i < n) RunStrip<T, false>(in, links, out, i, n - i);
}

ChainFn FindChain(DType dtype) {
  if (dtype == DType::kF32) return Run<float>;
  if (dtype == DType::kF64) return Run<double>;
  return nullptr;
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {
namespace {

constexpr ChainRow kChainRows[] = {
    {&kAbs, 0, {{ChainOp::kMagnitude}}},
    {&kAdd, 0, {{ChainOp::kPlus, 1}}},
    {&kAdd, 1, {{ChainOp::kPlus, 0}}},
    {&kCeil, 0, {{ChainOp::kUp}}},
    {&kClamp, 1, {{ChainOp::kLarger, 0}, {ChainOp::kSmaller, 2}}},
    {&kDivide, 0, {{ChainOp::kOver, 1}}},
    {&kDivide, 1, {{ChainOp::kUnder, 0}}},
    {&kExponential, 0, {{ChainOp::kExp}}, true},
    {&kFloor, 0, {{ChainOp::kDown}}},
    {&kLog, 0, {{ChainOp::kLog}}, true},
    {&kLogistic, 0, {{ChainOp::kLogistic}}, true},
    {&kMaximum, 0, {{ChainOp::kLarger, 1}}},
    {&kMaximum, 1, {{ChainOp::kLarger, 0}}},
    {&kMinimum, 0, {{ChainOp::kSmaller, 1}}},
    {&kMinimum, 1, {{ChainOp::kSmaller, 0}}},
    {&kMultiply, 0, {{ChainOp::kTimes, 1}}},
    {&kMultiply, 1, {{ChainOp::kTimes, 0}}},
    {&kNegate, 0, {{ChainOp::kNegative}}},
    {&kRoundNearestEven, 0, {{ChainOp::kEven}}},
    {&kRsqrt, 0, {{ChainOp::kInverseRoot}}},
    {&kSign, 0, {{ChainOp::kSign}}},
    {&kSqrt, 0, {{ChainOp::kSquareRoot}}},
    {&kSubtract, 0, {{ChainOp::kMinus, 1}}},
    {&kSubtract, 1, {{ChainOp::kMinusFrom, 0}}},
    {&kTanh, 0, {{ChainOp::kTanh}}, true},
};

}  // namespace

absl::Span<const ChainRow> ChainRows() { return kChainRows; }

ChainFn FindChain(DType dtype, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindChain(dtype))
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
