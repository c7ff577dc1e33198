// Elementary functions of libsleef, of one vector. chain_elementary-inl.h
// includes it, which Highway compiles once for each instruction set.
#if defined(HAWSER_KERNELS_CPU_CHAINS_CHAIN_LIBRARY_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_CHAINS_CHAIN_LIBRARY_INL_H_
#undef HAWSER_KERNELS_CPU_CHAINS_CHAIN_LIBRARY_INL_H_
#else
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_LIBRARY_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_math-inl.h"
#include "kernels/cpu/lanes/sleef.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// The vector that a function of the library takes: all lanes, but with clang,
// which passes wide ones as the file's own flags say, whatever the set at hand.
#if defined(__clang__)
template <typename T>
using LibraryTag = hn::FixedTag<T, 16 / sizeof(T)>;
#else
template <typename T>
using LibraryTag = Tag<T>;
#endif
#if HWY_TARGET == HWY_AVX3 && !defined(__clang__)
constexpr char kF32[] = "f16_u", kF64[] = "d8_u", kSet[] = "avx512f";
#elif HWY_TARGET == HWY_AVX2 && !defined(__clang__)
constexpr char kF32[] = "f8_u", kF64[] = "d4_u", kSet[] = "avx2";
#else
constexpr char kF32[] = "f4_u", kF64[] = "d2_u", kSet[] = "sse4";
#endif

// One function for one type.
template <typename Function, typename T>
class Library {
 public:
  using Raw = decltype(hn::Vec<LibraryTag<T>>::raw);
  using Fn = Raw (*)(Raw);

  // True if the library has it.
  static bool Find() {
    const auto fn = reinterpret_cast<Fn>(Sleef::OfProcess().Find(
        Function::kName, sizeof(T) == 4 ? kF32 : kF64, Function::kBound, kSet));
    __atomic_store_n(&found_, fn, __ATOMIC_RELAXED);
    return fn != nullptr;
  }
  // After Find, which finds the same whenever it is called.
  static HWY_INLINE Fn Found() {
    return __atomic_load_n(&found_, __ATOMIC_RELAXED);
  }

 private:
  static inline Fn found_ = nullptr;
};

// `bound`: the tenths of an ulp that the function's name promises.
#define HAWSER_SLEEF(Name, name, bound)       \
  struct Sleef##Name {                        \
    static constexpr char kName[] = name;     \
    static constexpr char kBound[] = bound;   \
    template <typename T>                     \
    static bool IsThere() {                   \
      return Library<Sleef##Name, T>::Find(); \
    }                                         \
  };
HAWSER_SLEEF(Exp, "exp", "10")
HAWSER_SLEEF(Expm1, "expm1", "10")
HAWSER_SLEEF(Log, "log", "10")
HAWSER_SLEEF(Log1p, "log1p", "10")
HAWSER_SLEEF(Sin, "sin", "10")
HAWSER_SLEEF(Cos, "cos", "10")
HAWSER_SLEEF(Tan, "tan", "10")
HAWSER_SLEEF(Tanh, "tanh", "10")
HAWSER_SLEEF(Cbrt, "cbrt", "10")
HAWSER_SLEEF(Erf, "erf", "10")
HAWSER_SLEEF(Erfc, "erfc", "15")
HAWSER_SLEEF(Lgamma, "lgamma", "10")
#undef HAWSER_SLEEF

// Functions that need no library.
struct Own {
  template <typename T>
  static bool IsThere() {
    return true;
  }
};
// What a function of f32, or of f64, needs.
template <typename F32, typename F64>
struct ByWidth {
  template <typename T>
  static bool IsThere() {
    return std::conditional_t<sizeof(T) == 4, F32, F64>::template IsThere<T>();
  }
};

// Applies a function of the library that is there.
template <typename Function, typename N>
HWY_INLINE N Call(N x) {
  using T = hn::TFromD<hn::DFromV<N>>;
  const auto fn = Library<Function, T>::Found();
#if defined(__clang__)
  const Tag<T> d;
  const LibraryTag<T> part;
  HWY_ALIGN T lanes[hn::MaxLanes(Tag<T>())];
  hn::Store(x, d, lanes);
  for (size_t k = 0; k < hn::MaxLanes(d); k += hn::MaxLanes(part)) {
    const hn::Vec<LibraryTag<T>> y = {fn(hn::Load(part, lanes + k).raw)};
    hn::Store(y, part, lanes + k);
  }
  return hn::Load(d, lanes);
#else
  return N{fn(x.raw)};
#endif
}

// Replaces the lanes of y where `there` does not hold by a function of those of
// x.
template <typename N, typename Of>
HWY_INLINE N ReplacedBy(N x, N y, hn::Mask<hn::DFromV<N>> there, Of of) {
  const hn::DFromV<N> d;
  using T = hn::TFromD<decltype(d)>;
  if (HWY_LIKELY(hn::AllTrue(d, there))) return y;
  HWY_ALIGN T from[hn::MaxLanes(hn::DFromV<N>())];
  HWY_ALIGN T to[hn::MaxLanes(hn::DFromV<N>())];
  const auto ones = hn::IfThenElseZero(there, hn::Set(d, T{1}));
  HWY_ALIGN T is_there[hn::MaxLanes(hn::DFromV<N>())];
  hn::Store(x, d, from);
  hn::Store(y, d, to);
  hn::Store(ones, d, is_there);
  for (size_t k = 0; k < hn::MaxLanes(d); ++k) {
    if (is_there[k] == 0) to[k] = of(from[k]);
  }
  return hn::Load(d, to);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
