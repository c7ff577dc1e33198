// The code of links: functions that tail-call the next link's. chains.cc
// includes it, which Highway compiles once for each instruction set.
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

// The registers that pass from link to link.
template <typename T>
struct Registers {
  V<T> a[kVectors], h[kVectors];
};

// The kLanes lanes from `first` on, and their mask m.
template <typename T>
struct Strip {
  static constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  static constexpr int64_t kLanes = kVectors * kStep;
  static_assert(kLanes * sizeof(T) <= kStripBytes);

  HWY_INLINE Strip() {
    const auto zero = hn::Zero(Tag<T>());
    HAWSER_EACH(mask[v] = hn::Eq(zero, zero);)
  }
  // The address of its lanes at a link.
  template <typename U = T>
  HWY_INLINE U* Of(const ChainLink& link) const {
    return reinterpret_cast<U*>(link.at) + (link.is_spill ? 0 : first);
  }

  M<T> mask[kVectors];
  int64_t first = 0;
};

// ---- links ------------------------------------------------------------------

// Bare vectors: compilers keep classes in registers less well.
template <typename T>
using Raw = decltype(V<T>::raw);

// Runs a link and goes on to the next one. A call in tail position is a jump
// that leaves its arguments in place, so lanes stay in registers from link to
// link, and each link has all other registers.
template <typename T, typename N = Raw<T>>
using Code = void (*)(const ChainLink*, Strip<T>*, N, N, N, N, N, N, N, N);

#if defined(__clang__)
#define HAWSER_TAIL [[clang::musttail]]
#else
// In unoptimized builds the calls nest, which is slow and right.
#define HAWSER_TAIL
#endif

template <typename T, typename Do, typename N = Raw<T>>
void RunLink(const ChainLink* link, Strip<T>* strip, N a0, N a1, N a2, N a3,
             N h0, N h1, N h2, N h3) {
  Registers<T> r = {{{a0}, {a1}, {a2}, {a3}}, {{h0}, {h1}, {h2}, {h3}}};
  Do::template Run<T>(*link, *strip, r);
  ++link;
  HAWSER_TAIL return reinterpret_cast<Code<T>>(link->run)(
      link, strip, r.a[0].raw, r.a[1].raw, r.a[2].raw, r.a[3].raw, r.h[0].raw,
      r.h[1].raw, r.h[2].raw, r.h[3].raw);
}

template <typename T, typename N = Raw<T>>
void EndChain(const ChainLink* /*link*/, Strip<T>* /*strip*/, N, N, N, N, N, N,
              N, N) {}

// The operand b of a link, vector by vector.
template <typename T, ChainOperand kB>
class OperandB {
 public:
  HWY_INLINE OperandB([[maybe_unused]] const ChainLink& link,
                      [[maybe_unused]] Strip<T>& strip) {
    const Tag<T> d;
    scalar_ = hn::Zero(d);
    if constexpr (kB == ChainOperand::kLanes) lanes_ = strip.Of(link);
    if constexpr (kB == ChainOperand::kBroadcast) {
      scalar_ = hn::Set(d, *reinterpret_cast<const T*>(link.at));
    }
  }

  HWY_INLINE V<T> Of(int v, const Registers<T>& r) const {
    if constexpr (kB == ChainOperand::kLanes) {
      return hn::LoadU(Tag<T>(), lanes_ + v * Strip<T>::kStep);
    } else if constexpr (kB == ChainOperand::kBroadcast) {
      return scalar_;
    } else if constexpr (kB == ChainOperand::kH) {
      return r.h[v];
    } else {
      return r.a[v];
    }
  }

 private:
  const T* lanes_ = nullptr;
  V<T> scalar_;
};

// Applies a function of lanes and the mask; the result replaces a or m.
template <typename Function, ChainOperand kB>
struct Lanewise {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    const OperandB<T, kB> b(link, strip);
    HAWSER_EACH(
        Put<T>(Function::template Of<T>(r.a[v], b.Of(v, r), strip.mask[v]),
               &r.a[v], &strip.mask[v]);)
  }
};
// Applies it to h and a; the result replaces h.
template <typename Function>
struct IntoH {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& /*link*/, Strip<T>& strip,
                             Registers<T>& r) {
    HAWSER_EACH(r.h[v] =
                    Function::template Of<T>(r.h[v], r.a[v], strip.mask[v]);)
  }
};
// Applies a function of masks.
template <typename Function, ChainOperand kB>
struct Maskwise {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& /*r*/) {
    if constexpr (kB == ChainOperand::kBroadcast) {
      const Tag<T> d;
      const M<T> y = hn::Ne(hn::Set(d, static_cast<T>(*link.at)), hn::Zero(d));
      HAWSER_EACH(strip.mask[v] = Function::Of(strip.mask[v], y);)
    } else {
      const uint8_t* at = strip.template Of<uint8_t>(link);
      HAWSER_EACH(strip.mask[v] = Function::Of(
                      strip.mask[v], LoadBools<T>(at + v * Strip<T>::kStep));)
    }
  }
};
// Shifts the bits of a by b.
template <Shift kShift, ChainOperand kB>
struct Shifts {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    if constexpr (kB == ChainOperand::kBroadcast) {
      const auto by = *reinterpret_cast<const hwy::MakeUnsigned<T>*>(link.at);
      HAWSER_EACH(r.a[v] = Lanes<T>(ShiftedAlike<kShift>(Ints<T>(r.a[v]), by));)
    } else {
      const OperandB<T, kB> by(link, strip);
      HAWSER_EACH(r.a[v] = Lanes<T>(
                      Shifted<kShift>(Ints<T>(r.a[v]), Ints<T>(by.Of(v, r))));)
    }
  }
};

// The remaining ops have a link of their own each.
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
HAWSER_LINK(RotateLeft, {
  const auto by = *reinterpret_cast<const IntOf<T>*>(link.at);
  HAWSER_EACH(r.a[v] =
                  Lanes<T>(RotatedLeft(Ints<T>(r.a[v]), static_cast<int>(by)));)
})
#if HAWSER_F16
HAWSER_LINK(RoundF16, { HAWSER_EACH(r.a[v] = F16::Round(r.a[v]);) })
#endif
HAWSER_LINK(LoadU8, {
  const uint8_t* at = strip.template Of<uint8_t>(link);
  HAWSER_EACH(r.a[v] = hn::ConvertTo(d, Widened<T>(at + v * kStep));)
})
HAWSER_LINK(Iota, {
  const auto first = *reinterpret_cast<const int64_t*>(link.at) + strip.first;
  HAWSER_EACH(r.a[v] = Lanes<T>(hn::Iota(
                  IntTag<T>(), static_cast<IntOf<T>>(first + v * kStep)));)
})
HAWSER_LINK(CopyToH, { HAWSER_EACH(r.h[v] = r.a[v];) })
HAWSER_LINK(Swap, {
  HAWSER_EACH(const V<T> x = r.a[v]; r.a[v] = r.h[v]; r.h[v] = x;)
})
HAWSER_LINK(Prefetch, {
  const T* at = reinterpret_cast<const T*>(link.at) + strip.first;
  HAWSER_EACH(__builtin_prefetch(at + v * kStep, /*rw=*/0, kSecondCache);)
})
HAWSER_LINK(Store, {
  T* const to = strip.Of(link);
  const bool is_aligned =
      reinterpret_cast<uintptr_t>(to) % (kStep * sizeof(T)) == 0;
  if (link.is_streamed && is_aligned) {
    HAWSER_EACH(hn::Stream(r.a[v], d, to + v * kStep);)
  } else {
    HAWSER_EACH(hn::StoreU(r.a[v], d, to + v * kStep);)
  }
})
HAWSER_LINK(StoreMask, {
  uint8_t* const to = strip.template Of<uint8_t>(link);
  HAWSER_EACH(StoreBools<T>(strip.mask[v], to + v * kStep);)
})

template <typename Half>
struct LoadHalves {
  template <typename T>
  static HWY_INLINE void Run(const ChainLink& link, Strip<T>& strip,
                             Registers<T>& r) {
    const uint16_t* at = strip.template Of<uint16_t>(link);
    HAWSER_EACH(r.a[v] = Half::Load(at + v * Strip<T>::kStep);)
  }
};
template <typename Half>
struct StoreHalves {
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
