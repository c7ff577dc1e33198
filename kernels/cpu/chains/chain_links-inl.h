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

// A strip of the lanes: kLanes from i on or, where kWhole is false, n.
template <typename T>
class Strip {
 public:
  static constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  static constexpr int64_t kLanes = kVectors * kStep;
  static_assert(kLanes * sizeof(T) <= kStripBytes);

  HWY_INLINE Strip() {
    const auto zero = hn::Zero(Tag<T>());
    HAWSER_EACH(truths[v] = hn::Eq(zero, zero);)
  }
  HWY_INLINE void Move(int64_t i) { i_ = i; }
  // To what is left.
  HWY_INLINE void MoveToRest(int64_t i, int64_t n) {
    i_ = i;
    n_ = n;
    const Tag<T> d;
    HAWSER_EACH(hn::StoreU(hn::Zero(d), d, rest_ + v * kStep);)
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

  int64_t i_ = 0, n_ = 0;
  HWY_ALIGN T rest_[kLanes];
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
    HAWSER_EACH(r.h[v] =
                    Function::template Of<T>(r.h[v], r.a[v], strip.truths[v]);)
  }
};
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
// Bits moved by others.
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
    if (kWhole && link.goes_past && is_aligned) {
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#endif  // per target
