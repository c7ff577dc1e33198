// Highway compiles this file once for each instruction set. The code between
// HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE uses that set alone, and nothing
// from outside that may be inlined elsewhere too.

#include "kernels/cpu/lanes/lanes.h"

#include <math.h>  // exp, lgamma_r

#include <cstdint>
#include <type_traits>

#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/lanes/sleef.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/lanes/loops.cc"
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

namespace hn = hwy::HWY_NAMESPACE;

// Halves away from 0; x less what is cut off it is exact.
template <typename V>
HWY_INLINE V AwayFromZero(V x) {
  const hn::DFromV<V> d;
  const V whole = hn::Trunc(x);
  const auto up = hn::Ge(hn::Abs(hn::Sub(x, whole)), hn::Set(d, 0.5f));
  const V next = hn::Add(whole, hn::CopySign(hn::Set(d, 1), x));
  return hn::IfThenElse(up, next, whole);
}

// Defines an op on vectors, for the types that `Types` is true for.
#define HAWSER_OF_LANES(Name, Types, Function)                   \
  struct Name {                                                  \
    template <typename T>                                        \
    static constexpr bool kFor = Types;                          \
    template <typename T>                                        \
    static HWY_INLINE void Loop(const T* a, T* r, int64_t n) {   \
      const hn::ScalableTag<T> d;                                \
      const auto lanes = static_cast<int64_t>(hn::Lanes(d));     \
      int64_t i = 0;                                             \
      for (; i + lanes <= n; i += lanes) {                       \
        hn::StoreU(Function(hn::LoadU(d, a + i)), d, r + i);     \
      }                                                          \
      const hn::CappedTag<T, 1> one;                             \
      for (; i < n; ++i) {                                       \
        hn::StoreU(Function(hn::LoadU(one, a + i)), one, r + i); \
      }                                                          \
    }                                                            \
  };
HAWSER_OF_LANES(RoundedDown, kIsReal<T>, hn::Floor)
HAWSER_OF_LANES(RoundedUp, kIsReal<T>, hn::Ceil)
HAWSER_OF_LANES(RoundedEven, kIsReal<T>, hn::Round)
HAWSER_OF_LANES(RoundedAway, kIsReal<T>, AwayFromZero)

// ---- loops ------------------------------------------------------------------

template <typename F, typename T, typename R>
HWY_INLINE void Unaries(const T* a, R* r, int64_t n) {
  if constexpr (requires { F::Loop(a, r, n); }) {
    F::Loop(a, r, n);
  } else {
    HAWSER_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) r[i] = F::Apply(a[i]);
  }
}
template <typename F, typename T, typename R>
HWY_INLINE void Binaries(const T* a, const T* b, R* r, int64_t n) {
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) r[i] = F::Apply(a[i], b[i]);
}

template <typename T, typename C>
using ResultOf = std::conditional_t<std::is_same_v<C, Computed<T>>, T, C>;

template <typename F, typename T, typename R>
void UnaryLanes(const char* const* in, char* out, int64_t n) {
  const T* a = reinterpret_cast<const T*>(in[0]);
  R* r = reinterpret_cast<R*>(out);
  if constexpr (!kIsHalfLane<T>) {
    Unaries<F>(a, r, n);
  } else {
    HWY_ALIGN float x[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      Widen(a + i, m, x);
      if constexpr (std::is_same_v<R, T>) {
        Unaries<F>(x, x, m);
        Narrow(x, m, r + i);
      } else {
        Unaries<F>(x, r + i, m);
      }
    }
  }
}
template <typename F, typename T, typename R>
void BinaryLanes(const char* const* in, char* out, int64_t n) {
  const T* a = reinterpret_cast<const T*>(in[0]);
  const T* b = reinterpret_cast<const T*>(in[1]);
  R* r = reinterpret_cast<R*>(out);
  if constexpr (!kIsHalfLane<T>) {
    Binaries<F>(a, b, r, n);
  } else {
    HWY_ALIGN float x[kChunk];
    HWY_ALIGN float y[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      Widen(a + i, m, x);
      Widen(b + i, m, y);
      if constexpr (std::is_same_v<R, T>) {
        Binaries<F>(x, y, x, m);
        Narrow(x, m, r + i);
      } else {
        Binaries<F>(x, y, r + i, m);
      }
    }
  }
}

// An F without Apply works on spans, and its result has the type of the
// operand.
template <typename F, typename T>
ElementFn UnaryOf() {
  using C = Computed<T>;
  if constexpr (!F::template kFor<C>) {
    return nullptr;
  } else if constexpr (requires(C x) { F::Apply(x); }) {
    return UnaryLanes<F, T, ResultOf<T, decltype(F::Apply(C{}))>>;
  } else {
    return UnaryLanes<F, T, T>;
  }
}
template <typename F>
ElementFn Unary(const ElementTypes& types) {
  return VisitDType(types.operands[0], [](auto tag) {
    return UnaryOf<F, typename decltype(tag)::type>();
  });
}
template <typename F>
ElementFn Binary(const ElementTypes& types) {
  return VisitDType(types.operands[0], [](auto tag) -> ElementFn {
    using T = typename decltype(tag)::type;
    using C = Computed<T>;
    if constexpr (!F::template kFor<C>) {
      return nullptr;
    } else {
      return BinaryLanes<F, T, ResultOf<T, decltype(F::Apply(C{}, C{}))>>;
    }
  });
}

ElementFn Compare(const ElementTypes& types) {
  switch (CompareDirectionOf(types.attributes)) {
    case CompareDirection::kEq:
      return Binary<IsEqual>(types);
    case CompareDirection::kNe:
      return Binary<IsNotEqual>(types);
    case CompareDirection::kGe:
      return Binary<IsAtLeast>(types);
    case CompareDirection::kGt:
      return Binary<IsAbove>(types);
    case CompareDirection::kLe:
      return Binary<IsAtMost>(types);
    case CompareDirection::kLt:
      break;
  }
  return Binary<IsBelow>(types);
}

template <typename W>
void SelectLanes(const char* const* in, char* out, int64_t n) {
  const auto* p = reinterpret_cast<const uint8_t*>(in[0]);
  const W* a = reinterpret_cast<const W*>(in[1]);
  const W* b = reinterpret_cast<const W*>(in[2]);
  W* r = reinterpret_cast<W*>(out);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) r[i] = p[i] != 0 ? a[i] : b[i];
}
ElementFn Select(const ElementTypes& types) {
  switch (ByteWidth(types.result)) {
    case 1:
      return SelectLanes<uint8_t>;
    case 2:
      return SelectLanes<uint16_t>;
    case 4:
      return SelectLanes<uint32_t>;
    case 8:
      return SelectLanes<uint64_t>;
    default:
      return nullptr;
  }
}

template <typename T>
void ClampLanes(const char* const* in, char* out, int64_t n) {
  const T* low = reinterpret_cast<const T*>(in[0]);
  const T* x = reinterpret_cast<const T*>(in[1]);
  const T* high = reinterpret_cast<const T*>(in[2]);
  T* r = reinterpret_cast<T*>(out);
  HAWSER_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) {
    r[i] = Smaller::Apply<T>(Larger::Apply<T>(x[i], low[i]), high[i]);
  }
}
ElementFn Clamp(const ElementTypes& types) {
  return VisitDType(types.result, [](auto tag) -> ElementFn {
    using T = typename decltype(tag)::type;
    if constexpr (kIsBits<T> || kIsReal<T>) {
      return ClampLanes<T>;
    } else {
      return nullptr;
    }
  });
}

// ---- other dtypes -----------------------------------------------------------

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
      if constexpr (kIsLane<From> && kIsLane<To> &&
                    !std::is_same_v<From, To> &&
                    (!kIsHalfLane<To> || kIsHalfLane<From> ||
                     kIsFloatExactly<From>)) {
        return ConvertLanes<From, To>;
      } else {
        return nullptr;
      }
    });
  });
}

// ---- elementary functions ---------------------------------------------------

// The vector that a library's function takes: all lanes, but with clang, which
// passes wide ones as the file's own flags say, whatever the set at hand.
#if defined(__clang__)
template <typename T>
using LibraryTag = hn::FixedTag<T, 16 / sizeof(T)>;
#else
template <typename T>
using LibraryTag = hn::ScalableTag<T>;
#endif
template <typename T>
using Lanes = hn::Vec<LibraryTag<T>>;
#if HWY_TARGET == HWY_AVX3 && !defined(__clang__)
constexpr char kF32[] = "f16_u";
constexpr char kF64[] = "d8_u";
constexpr char kSet[] = "avx512f";
#elif HWY_TARGET == HWY_AVX2 && !defined(__clang__)
constexpr char kF32[] = "f8_u";
constexpr char kF64[] = "d4_u";
constexpr char kSet[] = "avx2";
#else
constexpr char kF32[] = "f4_u";
constexpr char kF64[] = "d2_u";
constexpr char kSet[] = "sse4";
#endif

template <typename T>
using RawLanes = decltype(Lanes<T>{}.raw);

// One function for one type.
template <typename Name, typename T>
struct Library {
  using Fn = RawLanes<T> (*)(RawLanes<T>);
  static Fn Found() {
    static const Fn fn = reinterpret_cast<Fn>(Sleef::OfProcess().Find(
        Name::kName, sizeof(T) == 4 ? kF32 : kF64, Name::kBound, kSet));
    return fn;
  }
};

template <typename Name>
struct Elementary {
  template <typename T>
  static constexpr bool kFor = kIsReal<T>;
  template <typename T>
  static HWY_INLINE void Loop(const T* a, T* r, int64_t n) {
    const auto fn = Library<Name, T>::Found();
    const LibraryTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(Lanes<T>{fn(hn::LoadU(d, a + i).raw)}, d, r + i);
    }
    if (i == n) return;
    HWY_ALIGN T rest[hn::MaxLanes(d)] = {};
    for (int64_t k = i; k < n; ++k) rest[k - i] = a[k];
    hn::StoreU(Lanes<T>{fn(hn::LoadU(d, rest).raw)}, d, rest);
    for (int64_t k = i; k < n; ++k) r[k] = rest[k - i];
  }
};
// `bound`: the tenths of an ulp that the function's name promises.
#define HAWSER_ELEMENTARY(Struct, name, bound) \
  struct Struct##Name {                        \
    static constexpr char kName[] = name;      \
    static constexpr char kBound[] = bound;    \
  };                                           \
  using Struct = Elementary<Struct##Name>;
HAWSER_ELEMENTARY(LibraryExp, "exp", "10")
HAWSER_ELEMENTARY(Expm1, "expm1", "10")
HAWSER_ELEMENTARY(Ln, "log", "10")
HAWSER_ELEMENTARY(LibraryLog1p, "log1p", "10")
HAWSER_ELEMENTARY(Sin, "sin", "10")
HAWSER_ELEMENTARY(Cos, "cos", "10")
HAWSER_ELEMENTARY(Tan, "tan", "10")
HAWSER_ELEMENTARY(Tanh, "tanh", "10")
HAWSER_ELEMENTARY(CubeRoot, "cbrt", "10")
HAWSER_ELEMENTARY(ErrorFunction, "erf", "10")
HAWSER_ELEMENTARY(ErrorRest, "erfc", "15")
HAWSER_ELEMENTARY(LibraryLgamma, "lgamma", "10")

// The library's of f64 overflows before the largest numbers do; C's is there
// for these.
struct Exp {
  template <typename T>
  static constexpr bool kFor = kIsReal<T>;
  template <typename T>
  static HWY_INLINE void Loop(const T* a, T* r, int64_t n) {
    if constexpr (sizeof(T) == 4) {
      LibraryExp::Loop(a, r, n);
    } else {
      constexpr T kLarge = 709.78;
      HWY_ALIGN T x[kChunk];
      for (int64_t i = 0; i < n; i += kChunk) {
        const int64_t m = n - i < kChunk ? n - i : kChunk;
        int large = 0;
        for (int64_t k = 0; k < m; ++k) {
          x[k] = a[i + k];
          large |= x[k] > kLarge ? 1 : 0;
        }
        LibraryExp::Loop(x, r + i, m);
        for (int64_t k = 0; large != 0 && k < m; ++k) {
          if (x[k] > kLarge) r[i + k] = ::exp(x[k]);
        }
      }
    }
  }
};

// The library's loses what cancels below 0, and overflows for the largest
// numbers; C's is there for both.
struct LogGamma {
  template <typename T>
  static constexpr bool kFor = kIsReal<T>;
  template <typename T>
  static HWY_INLINE void Loop(const T* a, T* r, int64_t n) {
    constexpr auto kLarge =
        static_cast<T>(sizeof(T) == 4 ? 0x1p110 : 0x1p1000);
    HWY_ALIGN T x[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      for (int64_t k = 0; k < m; ++k) x[k] = a[i + k];
      LibraryLgamma::Loop(x, r + i, m);
      for (int64_t k = 0; k < m; ++k) {
        if (x[k] > 0 && x[k] < kLarge) continue;
        int sign;
        if constexpr (sizeof(T) == 4) {
          r[i + k] = ::lgammaf_r(x[k], &sign);
        } else {
          r[i + k] = ::lgamma_r(x[k], &sign);
        }
      }
    }
  }
};

// The library's overflows for the largest numbers, where 1 is nothing.
struct Log1p {
  template <typename T>
  static constexpr bool kFor = kIsReal<T>;
  template <typename T>
  static HWY_INLINE void Loop(const T* a, T* r, int64_t n) {
    constexpr T kLarge = sizeof(T) == 4 ? T{0x1p60} : T{0x1p120};
    HWY_ALIGN T x[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      int large = 0;
      for (int64_t k = 0; k < m; ++k) {
        x[k] = a[i + k];
        large |= x[k] > kLarge ? 1 : 0;
      }
      LibraryLog1p::Loop(x, r + i, m);
      if (large == 0) continue;
      HWY_ALIGN T ln[kChunk];
      Ln::Loop(x, ln, m);
      for (int64_t k = 0; k < m; ++k) {
        r[i + k] = x[k] > kLarge ? ln[k] : r[i + k];
      }
    }
  }
};

// 1 / (1 + e^-x), by the sign of x, so that e never overflows.
struct Sigmoid {
  template <typename T>
  static constexpr bool kFor = kIsReal<T>;
  template <typename T>
  static HWY_INLINE void Loop(const T* a, T* r, int64_t n) {
    HWY_ALIGN T e[kChunk];
    for (int64_t i = 0; i < n; i += kChunk) {
      const int64_t m = n - i < kChunk ? n - i : kChunk;
      HAWSER_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < m; ++k) {
        e[k] = -Magnitude::Apply<T>(a[i + k]);
      }
      Exp::Loop(e, e, m);
      HAWSER_INDEPENDENT_ITERATIONS
      for (int64_t k = 0; k < m; ++k) {
        const T above = a[i + k] < 0 ? e[k] : T{1};
        r[i + k] = above / (1 + e[k]);
      }
    }
  }
};

// Null where the library has none for the type.
template <typename F, typename Name>
ElementFn FromLibrary(const ElementTypes& types) {
  const bool there = types.operands[0] == DType::kF64
                         ? Library<Name, double>::Found() != nullptr
                         : Library<Name, float>::Found() != nullptr;
  return there ? Unary<F>(types) : nullptr;
}

// ---- the table --------------------------------------------------------------

struct LoopRow {
  const OpDef* op;
  ElementFn (*find)(const ElementTypes& types);
};
constexpr LoopRow kRows[] = {
    {&kAbs, Unary<Magnitude>},
    {&kAdd, Binary<Plus>},
    {&kAnd, Binary<BitAnd>},
    {&kCbrt, FromLibrary<CubeRoot, CubeRootName>},
    {&kCeil, Unary<RoundedUp>},
    {&kClamp, Clamp},
    {&kCompare, Compare},
    {&kConvert, Convert},
    {&kCosine, FromLibrary<Cos, CosName>},
    {&kDivide, Binary<Over>},
    {&kErf, FromLibrary<ErrorFunction, ErrorFunctionName>},
    {&kErfc, FromLibrary<ErrorRest, ErrorRestName>},
    {&kExponential, FromLibrary<Exp, LibraryExpName>},
    {&kExponentialMinusOne, FromLibrary<Expm1, Expm1Name>},
    {&kFloor, Unary<RoundedDown>},
    {&kIsFinite, Unary<IsNumber>},
    {&kLgamma, FromLibrary<LogGamma, LibraryLgammaName>},
    {&kLog, FromLibrary<Ln, LnName>},
    {&kLogPlusOne, FromLibrary<Log1p, LibraryLog1pName>},
    {&kLogistic, FromLibrary<Sigmoid, LibraryExpName>},
    {&kMaximum, Binary<Larger>},
    {&kMinimum, Binary<Smaller>},
    {&kMultiply, Binary<Times>},
    {&kNegate, Unary<Negative>},
    {&kNot, Unary<BitNot>},
    {&kOr, Binary<BitOr>},
    {&kRoundNearestAfz, Unary<RoundedAway>},
    {&kRoundNearestEven, Unary<RoundedEven>},
    {&kRsqrt, Unary<InverseRoot>},
    {&kSelect, Select},
    {&kSign, Unary<SignOf>},
    {&kSine, FromLibrary<Sin, SinName>},
    {&kSqrt, Unary<SquareRoot>},
    {&kSubtract, Binary<Minus>},
    {&kTan, FromLibrary<Tan, TanName>},
    {&kTanh, FromLibrary<Tanh, TanhName>},
    {&kXor, Binary<BitXor>},
};

ElementFn FindLoop(const OpDef& op, const ElementTypes& types) {
  for (const LoopRow& row : kRows) {
    if (row.op == &op) return row.find(types);
  }
  return nullptr;
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

ElementFn FindLanes(const OpDef& op, const ElementTypes& types, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindLoop(op, types))
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
