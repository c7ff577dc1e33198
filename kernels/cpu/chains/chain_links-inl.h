// What links of chains do, as functions that go on to the next one: of
// chains.cc, as chain_math-inl.h.
#if defined(HAWSER_KERNELS_CPU_CHAINS_CHAIN_LINKS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_CHAINS_CHAIN_LINKS_INL_H_
#undef HAWSER_KERNELS_CPU_CHAINS_CHAIN_LINKS_INL_H_
#else
#define HAWSER_KERNELS_CPU_CHAINS_CHAIN_LINKS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/cpu/chains/chain_functions-inl.h"
#include "kernels/cpu/chains/chains.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// ---- strips and registers ---------------------------------------------------

// What goes from link to link.
template <typename T>
struct Registers {
  V<T> a[kVectors], h[kVectors];
};

// kLanes lanes from `first` on.
template <typename T>
struct Strip {
  static constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  static constexpr int64_t kLanes = kVectors * kStep;
  static_assert(kLanes * sizeof(T) <= kStripBytes);

  HWY_INLINE Strip() {
    const auto zero = hn::Zero(Tag<T>());
    HAWSER_EACH(truths[v] = hn::Eq(zero, zero);)
  }
  // Where its lanes of a link are.
  template <typename U = T>
  HWY_INLINE U* Of(const ChainLink& link) const {
    return reinterpret_cast<U*>(link.at) + (link.of_strip ? 0 : first);
  }

  M<T> truths[kVectors];
  int64_t first = 0;
};

// ---- links ------------------------------------------------------------------

// Bare vectors, which compilers pass through better than those of classes.
template <typename T>
using Raw = decltype(V<T>::raw);

// Does what a link says and goes on to the next one. A call in tail position is
// a jump, and its arguments stay where they are: so lanes are in registers,
// whatever the links are, and each link has all other registers.
template <typename T, typename N = Raw<T>>
using Code = void (*)(const ChainLink*, Strip<T>*, N, N, N, N, N, N, N, N);

#if defined(__clang__)
#define HAWSER_TAIL [[clang::musttail]]
#else
// Where nothing is optimized calls nest, which is slow and right.
#define HAWSER_TAIL
#endif

template <typename T, typename Do, typename N = Raw<T>>
void RunLink(const ChainLink* link, Strip<T>* strip, N a0, N a1, N a2, N a3,
             N h0, N h1, N h2, N h3) {
  Registers<T> r = {{{a0}, {a1}, {a2}, {a3}}, {{h0}, {h1}, {h2}, {h3}}};
  Do::template Run<T>(*link, *strip, r);
  ++link;
  HAWSER_TAIL return reinterpret_cast<Code<T>>(link->code.run)(
      link, strip, r.a[0].raw, r.a[1].raw, r.a[2].raw, r.a[3].raw, r.h[0].raw,
      r.h[1].raw, r.h[2].raw, r.h[3].raw);
}

template <typename T, typename N = Raw<T>>
void EndChain(const ChainLink* /*link*/, Strip<T>* /*strip*/, N, N, N, N, N, N,
              N, N) {}

// The others of a link, vector by vector.
template <typename T, ChainOther other>
class Others {
 public:
  HWY_INLINE Others([[maybe_unused]] const ChainLink& link,
                    [[maybe_unused]] Strip<T>& strip) {
    const Tag<T> d;
    one_ = hn::Zero(d);
    if constexpr (other == ChainOther::kLanes) lanes_ = strip.Of(link);
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
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    const Others<T, other> others(link, strip);
    HAWSER_EACH(Put<T>(Function::template Of<T>(r.a[v], others.Of(v, r),
                                                strip.truths[v]),
                       &r.a[v], &strip.truths[v]);)
  }
};
// The same of lanes h and others a.
template <typename Function>
struct OfHeld {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& /*link*/, Strip<T>& strip,
                             Registers<T>& r) {
    HAWSER_EACH(r.h[v] =
                    Function::template Of<T>(r.h[v], r.a[v], strip.truths[v]);)
  }
};
// A function of truths and others.
template <typename Function, ChainOther other>
struct OfTruths {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& /*r*/) {
    if constexpr (other == ChainOther::kOne) {
      const Tag<T> d;
      const M<T> y = hn::Ne(hn::Set(d, static_cast<T>(*link.at)), hn::Zero(d));
      HAWSER_EACH(strip.truths[v] = Function::Of(strip.truths[v], y);)
    } else {
      const uint8_t* at = strip.template Of<uint8_t>(link);
      HAWSER_EACH(strip.truths[v] =
                      Function::Of(strip.truths[v],
                                   LoadTruths<T>(at + v * Strip<T>::kStep));)
    }
  }
};
// Bits moved by others.
template <Way way, ChainOther other>
struct Moves {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    if constexpr (other == ChainOther::kOne) {
      const auto by = *reinterpret_cast<const hwy::MakeUnsigned<T>*>(link.at);
      HAWSER_EACH(r.a[v] = Lanes<T>(MovedAlike<way>(Whole<T>(r.a[v]), by));)
    } else {
      const Others<T, other> by(link, strip);
      HAWSER_EACH(r.a[v] = Lanes<T>(
                      Moved<way>(Whole<T>(r.a[v]), Whole<T>(by.Of(v, r))));)
    }
  }
};

// The others: what a link of one op does.
#define HAWSER_LINK(Name, ...)                                         \
  struct Name {                                                        \
    template <typename T>                                              \
    static HWY_INLINE void Run([[maybe_unused]] const ChainLink& link, \
                               [[maybe_unused]] Strip<T>& strip,       \
                               [[maybe_unused]] Registers<T>& r) {     \
      [[maybe_unused]] const Tag<T> d;                                 \
      [[maybe_unused]] constexpr int64_t kStep = Strip<T>::kStep;      \
      __VA_ARGS__                                                      \
    }                                                                  \
  };
HAWSER_LINK(TurnedByOne, {
  const auto by = *reinterpret_cast<const WholeOf<T>*>(link.at);
  HAWSER_EACH(r.a[v] =
                  Lanes<T>(Turned(Whole<T>(r.a[v]), static_cast<int>(by)));)
})
HAWSER_LINK(OverOne,
            { DivideByOne<T>(r.a, *reinterpret_cast<const T*>(link.at)); })
HAWSER_LINK(TakeBytes, {
  const uint8_t* at = strip.template Of<uint8_t>(link);
  HAWSER_EACH(r.a[v] = hn::ConvertTo(d, Widened<T>(at + v * kStep));)
})
HAWSER_LINK(Count, {
  const auto first = *reinterpret_cast<const int64_t*>(link.at) + strip.first;
  HAWSER_EACH(r.a[v] = Lanes<T>(hn::Iota(
                  WholeTag<T>(), static_cast<WholeOf<T>>(first + v * kStep)));)
})
HAWSER_LINK(Hold, { HAWSER_EACH(r.h[v] = r.a[v];) })
HAWSER_LINK(Swap, {
  HAWSER_EACH(const V<T> x = r.a[v]; r.a[v] = r.h[v]; r.h[v] = x;)
})
HAWSER_LINK(Ahead, {
  const T* at = reinterpret_cast<const T*>(link.at) + strip.first;
  HAWSER_EACH(__builtin_prefetch(at + v * kStep, /*rw=*/0, kSecondCache);)
})
HAWSER_LINK(Give, {
  T* const to = strip.Of(link);
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(to) % (kStep * sizeof(T)) == 0;
  if (link.goes_past && is_aligned) {
    HAWSER_EACH(hn::Stream(r.a[v], d, to + v * kStep);)
  } else {
    HAWSER_EACH(hn::StoreU(r.a[v], d, to + v * kStep);)
  }
})
HAWSER_LINK(GiveBools, {
  uint8_t* const to = strip.template Of<uint8_t>(link);
  HAWSER_EACH(StoreTruths<T>(strip.truths[v], to + v * kStep);)
})

template <typename Half>
struct TakeHalves {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    const uint16_t* at = strip.template Of<uint16_t>(link);
    HAWSER_EACH(r.a[v] = Half::Load(at + v * Strip<T>::kStep);)
  }
};
template <typename Half>
struct GiveHalves {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    uint16_t* const to = strip.template Of<uint16_t>(link);
    HAWSER_EACH(Half::Store(r.a[v], to + v * Strip<T>::kStep);)
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
