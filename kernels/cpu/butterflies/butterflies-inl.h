// Butterflies: the transforms of a few numbers, over vectors of which `O` says
// how they are computed. Nothing is fused, so that all machines agree.
// lane_passes.cc includes it, once for each set of instructions.

// Written once per target, in its namespace.
#if defined(HAWSER_KERNELS_CPU_BUTTERFLIES_BUTTERFLIES_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_BUTTERFLIES_BUTTERFLIES_INL_H_
#undef HAWSER_KERNELS_CPU_BUTTERFLIES_BUTTERFLIES_INL_H_
#else
#define HAWSER_KERNELS_CPU_BUTTERFLIES_BUTTERFLIES_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/cpu/butterflies/lane_passes.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

// A vector of complex numbers.
template <class O>
struct Point {
  typename O::V re, im;
};

template <class O>
HWY_INLINE Point<O> Sum(const Point<O>& x, const Point<O>& y) {
  return {O::Add(x.re, y.re), O::Add(x.im, y.im)};
}
template <class O>
HWY_INLINE Point<O> Difference(const Point<O>& x, const Point<O>& y) {
  return {O::Sub(x.re, y.re), O::Sub(x.im, y.im)};
}
// x + i y.
template <class O>
HWY_INLINE Point<O> SumTurned(const Point<O>& x, const Point<O>& y) {
  return {O::Sub(x.re, y.im), O::Add(x.im, y.re)};
}
// x - i y.
template <class O>
HWY_INLINE Point<O> DifferenceTurned(const Point<O>& x, const Point<O>& y) {
  return {O::Add(x.re, y.im), O::Sub(x.im, y.re)};
}
template <class O>
HWY_INLINE Point<O> Scaled(const Point<O>& x, typename O::V by) {
  return {O::Mul(x.re, by), O::Mul(x.im, by)};
}
template <class O>
HWY_INLINE Point<O> Product(const Point<O>& x, typename O::V re,
                            typename O::V im) {
  return {O::Sub(O::Mul(x.re, re), O::Mul(x.im, im)),
          O::Add(O::Mul(x.re, im), O::Mul(x.im, re))};
}
// x + (y * a + z * b).
template <class O>
HWY_INLINE Point<O> PlusBoth(const Point<O>& x, const Point<O>& y,
                             typename O::V a, const Point<O>& z,
                             typename O::V b) {
  return Sum(x, Sum(Scaled(y, a), Scaled(z, b)));
}

// In place, x[j] becomes the sum of x[k] e^(-2 pi i jk / r).
template <class O, int r>
struct Butterfly;

template <class O>
struct Butterfly<O, 2> {
  static HWY_INLINE void Run(Point<O>* x, const typename O::T*) {
    const Point<O> sum = Sum(x[0], x[1]);
    x[1] = Difference(x[0], x[1]);
    x[0] = sum;
  }
};

template <class O>
struct Butterfly<O, 3> {
  static HWY_INLINE void Run(Point<O>* x, const typename O::T*) {
    using T = typename O::T;
    const auto half = O::Set(T(-0.5));
    const auto sine = O::Set(T(0.86602540378443864676));
    const Point<O> sum = Sum(x[1], x[2]);
    const Point<O> turned = Scaled(Difference(x[1], x[2]), sine);
    const Point<O> middle = Sum(x[0], Scaled(sum, half));
    x[0] = Sum(x[0], sum);
    x[1] = DifferenceTurned(middle, turned);
    x[2] = SumTurned(middle, turned);
  }
};

template <class O>
HWY_INLINE void Four(Point<O>& a, Point<O>& b, Point<O>& c, Point<O>& d) {
  const Point<O> even = Sum(a, c), odd = Sum(b, d);
  const Point<O> across = Difference(a, c), turned = Difference(b, d);
  a = Sum(even, odd);
  b = DifferenceTurned(across, turned);
  c = Difference(even, odd);
  d = SumTurned(across, turned);
}

template <class O>
struct Butterfly<O, 4> {
  static HWY_INLINE void Run(Point<O>* x, const typename O::T*) {
    Four(x[0], x[1], x[2], x[3]);
  }
};

template <class O>
struct Butterfly<O, 5> {
  static HWY_INLINE void Run(Point<O>* x, const typename O::T*) {
    using T = typename O::T;
    const auto c1 = O::Set(T(0.30901699437494742410));
    const auto c2 = O::Set(T(-0.80901699437494742410));
    const auto s1 = O::Set(T(0.95105651629515357212));
    const auto s2 = O::Set(T(0.58778525229247312917));
    const auto minus_s1 = O::Set(T(-0.95105651629515357212));
    const Point<O> sum1 = Sum(x[1], x[4]), sum2 = Sum(x[2], x[3]);
    const Point<O> part1 = Difference(x[1], x[4]);
    const Point<O> part2 = Difference(x[2], x[3]);
    const Point<O> real1 = PlusBoth(x[0], sum1, c1, sum2, c2);
    const Point<O> real2 = PlusBoth(x[0], sum1, c2, sum2, c1);
    const Point<O> turned1 = Sum(Scaled(part1, s1), Scaled(part2, s2));
    const Point<O> turned2 = Sum(Scaled(part1, s2), Scaled(part2, minus_s1));
    x[0] = Sum(x[0], Sum(sum1, sum2));
    x[1] = DifferenceTurned(real1, turned1);
    x[2] = DifferenceTurned(real2, turned2);
    x[3] = SumTurned(real2, turned2);
    x[4] = SumTurned(real1, turned1);
  }
};

template <class O>
struct Butterfly<O, 8> {
  static HWY_INLINE void Run(Point<O>* x, const typename O::T*) {
    using T = typename O::T;
    const auto root = O::Set(T(0.70710678118654752440));
    const auto minus_root = O::Set(T(-0.70710678118654752440));
    Four(x[0], x[2], x[4], x[6]);
    Four(x[1], x[3], x[5], x[7]);
    // By (1 - i) and (-1 - i), over the root of 2.
    const Point<O> one = Scaled(
        Point<O>{O::Add(x[3].re, x[3].im), O::Sub(x[3].im, x[3].re)}, root);
    const Point<O> three = {O::Mul(O::Sub(x[7].im, x[7].re), root),
                            O::Mul(O::Add(x[7].re, x[7].im), minus_root)};
    const Point<O> e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6];
    const Point<O> o0 = x[1], o2 = x[5];
    x[0] = Sum(e0, o0);
    x[4] = Difference(e0, o0);
    x[1] = Sum(e1, one);
    x[5] = Difference(e1, one);
    x[2] = DifferenceTurned(e2, o2);
    x[6] = SumTurned(e2, o2);
    x[3] = Sum(e3, three);
    x[7] = Difference(e3, three);
  }
};

// Odd r, with all its roots: pairs of elements have conjugate roots.
template <class O>
HWY_INLINE void OddButterfly(Point<O>* x, int r, const typename O::T* turns) {
  const int half = r / 2;
  Point<O> sums[kMostRadix / 2], parts[kMostRadix / 2];
  Point<O> all = x[0];
  for (int j = 0; j < half; ++j) {
    sums[j] = Sum(x[j + 1], x[r - 1 - j]);
    parts[j] = Difference(x[j + 1], x[r - 1 - j]);
    all = Sum(all, sums[j]);
  }
  for (int k = 1; k <= half; ++k) {
    Point<O> real = Sum(x[0], Scaled(sums[0], O::Set(turns[2 * k])));
    Point<O> turned = Scaled(parts[0], O::Set(-turns[2 * k + 1]));
    for (int j = 1, at = k; j < half; ++j) {
      at = at + k < r ? at + k : at + k - r;
      real = Sum(real, Scaled(sums[j], O::Set(turns[2 * at])));
      turned = Sum(turned, Scaled(parts[j], O::Set(-turns[2 * at + 1])));
    }
    x[k] = DifferenceTurned(real, turned);
    x[r - k] = SumTurned(real, turned);
  }
  x[0] = all;
}
template <class O>
struct Butterfly<O, 7> {
  static HWY_INLINE void Run(Point<O>* x, const typename O::T* turns) {
    OddButterfly(x, 7, turns);
  }
};

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
