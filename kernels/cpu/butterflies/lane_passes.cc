// Highway compiles it once for each set of instructions, and once for every
// machine of this kind.
#include "kernels/cpu/butterflies/lane_passes.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/butterflies/lane_passes.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/butterflies/butterflies-inl.h"
#include "kernels/cpu/butterflies/lane_moves-inl.h"
#include "kernels/cpu/isa/by_isa.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// What butterflies are computed with.
template <typename Element>
struct Vectors {
  using T = Element;
  using D = hn::CappedTag<T, kMostLanes<T>>;
  using V = hn::Vec<D>;
  static constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D()));

  static HWY_INLINE V Set(T x) { return hn::Set(D(), x); }
  static HWY_INLINE V Load(const T* from) { return hn::LoadU(D(), from); }
  static HWY_INLINE void Store(V x, T* to) { hn::StoreU(x, D(), to); }
  static HWY_INLINE V Add(V x, V y) { return hn::Add(x, y); }
  static HWY_INLINE V Sub(V x, V y) { return hn::Sub(x, y); }
  static HWY_INLINE V Mul(V x, V y) { return hn::Mul(x, y); }
};

template <class O>
HWY_INLINE Point<O> LoadPoint(const LaneParts<const typename O::T>& from,
                              int64_t at) {
  return {O::Load(from.re + at), O::Load(from.im + at)};
}
template <class O>
HWY_INLINE void StorePoint(const Point<O>& x,
                           const LaneParts<typename O::T>& to, int64_t at) {
  O::Store(x.re, to.re + at);
  O::Store(x.im, to.im + at);
}

// ---- passes -----------------------------------------------------------------

// The groups of one row of roots: `run` numbers behind one another.
template <class O, int r, bool kTurns>
HWY_INLINE void RunGroups(LaneParts<const typename O::T> from,
                          LaneParts<typename O::T> to, int64_t apart,
                          int64_t run, const LanePass<typename O::T>& pass,
                          const typename O::T* roots) {
  // 0: known when it runs.
  const int radix = r == 0 ? pass.radix : r;
  for (int64_t q = 0; q < run; q += O::kLanes) {
    Point<O> x[r == 0 ? kMostRadix : r];
    for (int j = 0; j < radix; ++j) x[j] = LoadPoint<O>(from, j * apart + q);
    if constexpr (r == 0) {
      OddButterfly(x, radix, pass.turns);
    } else {
      Butterfly<O, r>::Run(x, pass.turns);
    }
    StorePoint<O>(x[0], to, q);
    for (int k = 1; k < radix; ++k) {
      if constexpr (kTurns) {
        x[k] =
            Product(x[k], O::Set(roots[2 * k - 2]), O::Set(roots[2 * k - 1]));
      }
      StorePoint<O>(x[k], to, k * run + q);
    }
  }
}

template <typename T, int r>
HWY_INLINE void RunPass(const LanePass<T>& pass, LaneParts<T> from,
                        LaneParts<T> to, int64_t width) {
  using O = Vectors<T>;
  const int64_t run = pass.before * width, apart = pass.behind * run;
  RunGroups<O, r, false>({from.re, from.im}, to, apart, run, pass, nullptr);
  const T* roots = pass.roots;
  for (int64_t p = 1; p < pass.behind; ++p) {
    roots += 2 * (pass.radix - 1);
    const int64_t at = p * pass.radix * run;
    RunGroups<O, r, true>({from.re + p * run, from.im + p * run},
                          {to.re + at, to.im + at}, apart, run, pass, roots);
  }
}

template <typename T>
void Run(const LanePass<T>& pass, LaneParts<T> from, LaneParts<T> to,
         int64_t width) {
  switch (pass.radix) {
    case 2:
      return RunPass<T, 2>(pass, from, to, width);
    case 3:
      return RunPass<T, 3>(pass, from, to, width);
    case 4:
      return RunPass<T, 4>(pass, from, to, width);
    case 5:
      return RunPass<T, 5>(pass, from, to, width);
    case 7:
      return RunPass<T, 7>(pass, from, to, width);
    case 8:
      return RunPass<T, 8>(pass, from, to, width);
    default:
      return RunPass<T, 0>(pass, from, to, width);
  }
}

// ---- products ---------------------------------------------------------------

template <typename T>
void TurnLanes(LaneParts<T> x, int64_t n, int64_t width, LaneParts<const T> by,
               int64_t pitch) {
  using O = Vectors<T>;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t l = 0; l < width; l += O::kLanes) {
      const int64_t at = j * width + l;
      const auto turn = LoadPoint<O>(by, j * pitch + l);
      StorePoint<O>(Product(LoadPoint<O>({x.re, x.im}, at), turn.re, turn.im),
                    x, at);
    }
  }
}

template <typename T>
void TurnElements(LaneParts<T> x, int64_t n, int64_t width,
                  LaneParts<const T> by) {
  using O = Vectors<T>;
  for (int64_t j = 0; j < n; ++j) {
    const auto re = O::Set(by.re[j]), im = O::Set(by.im[j]);
    for (int64_t l = 0; l < width; l += O::kLanes) {
      const int64_t at = j * width + l;
      StorePoint<O>(Product(LoadPoint<O>({x.re, x.im}, at), re, im), x, at);
    }
  }
}

// ---- halves -----------------------------------------------------------------

template <class O>
HWY_INLINE Point<O> ConjugateOf(const Point<O>& x) {
  return {x.re, O::Sub(O::Set(0), x.im)};
}

template <typename T>
void JoinHalves(LaneParts<T> x, int64_t half, int64_t width, const T* roots) {
  using O = Vectors<T>;
  const auto both = O::Set(T(0.5));
  for (int64_t l = 0; l < width; l += O::kLanes) {
    const auto first = LoadPoint<O>({x.re, x.im}, l);
    StorePoint<O>({O::Add(first.re, first.im), O::Set(0)}, x, l);
    StorePoint<O>({O::Sub(first.re, first.im), O::Set(0)}, x, half * width + l);
  }
  for (int64_t k = 1; 2 * k <= half; ++k) {
    const auto re = O::Set(roots[2 * k]), im = O::Set(roots[2 * k + 1]);
    for (int64_t l = 0; l < width; l += O::kLanes) {
      const int64_t at = k * width + l, mirror = (half - k) * width + l;
      const auto a = LoadPoint<O>({x.re, x.im}, at);
      const auto b = ConjugateOf(LoadPoint<O>({x.re, x.im}, mirror));
      const auto even = Scaled(Sum(a, b), both);
      const auto odd = Product(Scaled(Difference(a, b), both), re, im);
      StorePoint<O>(DifferenceTurned(even, odd), x, at);
      StorePoint<O>(ConjugateOf(SumTurned(even, odd)), x, mirror);
    }
  }
}

template <typename T>
void PartHalves(LaneParts<T> x, int64_t half, int64_t width, const T* roots) {
  using O = Vectors<T>;
  for (int64_t l = 0; l < width; l += O::kLanes) {
    const auto first = O::Load(x.re + l),
               last = O::Load(x.re + half * width + l);
    StorePoint<O>({O::Add(first, last), O::Sub(first, last)}, x, l);
  }
  for (int64_t k = 1; 2 * k <= half; ++k) {
    const auto re = O::Set(roots[2 * k]), im = O::Set(-roots[2 * k + 1]);
    for (int64_t l = 0; l < width; l += O::kLanes) {
      const int64_t at = k * width + l, mirror = (half - k) * width + l;
      const auto a = LoadPoint<O>({x.re, x.im}, at);
      const auto b = ConjugateOf(LoadPoint<O>({x.re, x.im}, mirror));
      const auto even = Sum(a, b), odd = Product(Difference(a, b), re, im);
      StorePoint<O>(SumTurned(even, odd), x, at);
      StorePoint<O>(ConjugateOf(DifferenceTurned(even, odd)), x, mirror);
    }
  }
}

template <typename T>
const LanePasses<T>& Passes() {
  static constexpr LanePasses<T> kPasses = {
      Vectors<T>::kLanes,     Run<T>,       LoadLanes<Vectors<T>>,
      StoreLanes<Vectors<T>>, TurnLanes<T>, TurnElements<T>,
      JoinHalves<T>,          PartHalves<T>};
  return kPasses;
}

}  // namespace

const LanePasses<float>& FloatPasses() { return Passes<float>(); }
const LanePasses<double>& DoublePasses() { return Passes<double>(); }

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hawser::cpu {

template <>
const LanePasses<float>& FindLanePasses(Isa isa) {
  HAWSER_BY_ISA(isa, HWY_NAMESPACE::FloatPasses(), FloatPasses())
}
template <>
const LanePasses<double>& FindLanePasses(Isa isa) {
  HAWSER_BY_ISA(isa, HWY_NAMESPACE::DoublePasses(), DoublePasses())
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
