// Highway compiles it once for each set of instructions, and once for every
// machine of this kind.
#include "kernels/cpu/matrix_lanes/matrix_lanes.h"

#include <cstdint>
#include <limits>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/matrix_lanes/matrix_lanes.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/isa/by_isa.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sweeps after which what is not yet apart stays so: 6 to 10 are usual.
constexpr int kMostSweeps = 40;

template <typename T>
using Tag = hn::CappedTag<T, kMatrixLanes<T>>;
template <typename T>
using Vector = hn::Vec<Tag<T>>;
template <typename T>
using Mask = hn::Mask<Tag<T>>;

// The elements of some of the matrices: those of one vector.
template <typename T>
struct MatrixElements {
  HWY_INLINE Vector<T> Load(int64_t k) const {
    return hn::LoadU(Tag<T>(), data + k * kMatrixLanes<T>);
  }
  HWY_INLINE void Store(int64_t k, Vector<T> x) const {
    hn::StoreU(x, Tag<T>(), data + k * kMatrixLanes<T>);
  }
  T* data;
};

template <typename T>
HWY_INLINE Vector<T> Constant(T x) {
  return hn::Set(Tag<T>(), x);
}

// Calls fn(offset) for each vector of the lanes.
template <typename T, typename Fn>
HWY_INLINE void ForVectors(Fn fn) {
  constexpr auto kStep = static_cast<int64_t>(hn::MaxLanes(Tag<T>()));
  for (int64_t at = 0; at < kMatrixLanes<T>; at += kStep) fn(at);
}

// ---- Cholesky ---------------------------------------------------------------

template <typename T>
HWY_INLINE void FactorVector(int64_t n, MatrixElements<T> x, T* bad) {
  const Tag<T> d;
  const auto most = Constant(std::numeric_limits<T>::max());
  const auto zero = hn::Zero(d), one = Constant(T{1});
  auto worst = zero;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t row = k * n;
    const auto pivot = x.Load(row + k);
    const auto good = hn::And(hn::Gt(pivot, zero), hn::Le(pivot, most));
    worst = hn::IfThenElse(good, worst, one);
    const auto root = hn::Sqrt(pivot);
    x.Store(row + k, root);
    for (int64_t j = k + 1; j < n; ++j) {
      x.Store(row + j, hn::Div(x.Load(row + j), root));
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const auto factor = x.Load(row + i);
      for (int64_t j = i; j < n; ++j) {
        const auto product = hn::Mul(factor, x.Load(row + j));
        x.Store(i * n + j, hn::Sub(x.Load(i * n + j), product));
      }
    }
  }
  hn::StoreU(worst, d, bad);
}

template <typename T>
void Factor(int64_t n, T* x, T* bad) {
  ForVectors<T>([&](int64_t at) HWY_ATTR {
    FactorVector(n, MatrixElements<T>{x + at}, bad + at);
  });
}

// ---- rotations --------------------------------------------------------------

// x' = c x - s y, y' = s x + c y; t = s / c. Lanes that do not turn have 1 and
// 0.
template <typename T>
struct Turn {
  HWY_INLINE void Apply(MatrixElements<T> e, int64_t of_x, int64_t of_y) const {
    const auto x = e.Load(of_x), y = e.Load(of_y);
    e.Store(of_x, hn::Sub(hn::Mul(c, x), hn::Mul(s, y)));
    e.Store(of_y, hn::Add(hn::Mul(s, x), hn::Mul(c, y)));
  }
  Vector<T> c, s, t;
};

// The one, of the smaller angle, by which rows x and y become orthogonal, whose
// products are xx, yy and xy.
template <typename T>
HWY_INLINE Turn<T> TurnOf(Vector<T> xx, Vector<T> yy, Vector<T> xy,
                          Mask<T> where) {
  const auto zero = hn::Zero(Tag<T>()), one = Constant(T{1});
  // 1 + x^2 is x^2 from there on, which might overflow.
  const auto large = Constant(T{1e9});
  const auto zeta = hn::Div(hn::Sub(yy, xx), hn::Add(xy, xy));
  const auto size = hn::Abs(zeta);
  const auto near = hn::Min(size, large);
  const auto root = hn::IfThenElse(hn::Gt(size, large), size,
                                   hn::Sqrt(hn::Add(one, hn::Mul(near, near))));
  const auto angle = hn::Div(one, hn::Add(size, root));
  const auto t = hn::IfThenElse(hn::Ge(zeta, zero), angle, hn::Neg(angle));
  const auto c = hn::Div(one, hn::Sqrt(hn::Add(one, hn::Mul(t, t))));
  return {hn::IfThenElse(where, c, one),
          hn::IfThenElseZero(where, hn::Mul(t, c)),
          hn::IfThenElseZero(where, t)};
}

template <typename T>
HWY_INLINE void MakeIdentity(int64_t n, MatrixElements<T> x) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      x.Store(i * n + j, Constant(i == j ? T{1} : T{0}));
    }
  }
}

// Makes element (p, q) 0; false: it was, or as good as.
template <typename T>
HWY_INLINE bool DiagonalizePair(int64_t n, int64_t p, int64_t q,
                                MatrixElements<T> a, MatrixElements<T> v) {
  constexpr T kSmall = std::numeric_limits<T>::epsilon() / 4;
  const int64_t at = p * n + q;
  const auto x = a.Load(p * n + p), y = a.Load(q * n + q), xy = a.Load(at);
  const auto where = hn::Gt(hn::Mul(xy, xy), hn::Mul(Constant(kSmall * kSmall),
                                                     hn::Abs(hn::Mul(x, y))));
  if (hn::AllFalse(Tag<T>(), where)) return false;
  const auto turn = TurnOf<T>(x, y, xy, where);
  const auto moved = hn::Mul(turn.t, xy);
  a.Store(p * n + p, hn::Sub(x, moved));
  a.Store(q * n + q, hn::Add(y, moved));
  a.Store(at, hn::IfThenZeroElse(where, xy));
  // Of the rest of rows and columns p and q what is above the diagonal.
  for (int64_t k = 0; k < p; ++k) turn.Apply(a, k * n + p, k * n + q);
  for (int64_t k = p + 1; k < q; ++k) turn.Apply(a, p * n + k, k * n + q);
  for (int64_t k = q + 1; k < n; ++k) turn.Apply(a, p * n + k, q * n + k);
  for (int64_t k = 0; k < n; ++k) turn.Apply(v, p * n + k, q * n + k);
  return true;
}

// Calls turned(p, q) for all pairs of n, again as long as one was.
template <typename Fn>
HWY_INLINE void Sweep(int64_t n, Fn turned) {
  bool any = true;
  for (int sweep = 0; sweep < kMostSweeps && any; ++sweep) {
    any = false;
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) any = turned(p, q) || any;
    }
  }
}

template <typename T>
void Diagonalize(int64_t n, T* a, T* v) {
  ForVectors<T>([&](int64_t at) HWY_ATTR {
    const MatrixElements<T> of_a{a + at}, of_v{v + at};
    MakeIdentity(n, of_v);
    Sweep(n, [&](int64_t p, int64_t q)
                 HWY_ATTR { return DiagonalizePair(n, p, q, of_a, of_v); });
  });
}

// Makes rows p and q orthogonal; false: they were, or as good as.
template <typename T>
HWY_INLINE bool OrthogonalizePair(int64_t m, int64_t n, int64_t p, int64_t q,
                                  MatrixElements<T> a, MatrixElements<T> j) {
  constexpr T kSmall = std::numeric_limits<T>::epsilon();
  const auto zero = hn::Zero(Tag<T>());
  auto xx = zero, yy = zero, xy = zero;
  for (int64_t k = 0; k < n; ++k) {
    const auto x = a.Load(p * n + k), y = a.Load(q * n + k);
    xx = hn::Add(xx, hn::Mul(x, x));
    yy = hn::Add(yy, hn::Mul(y, y));
    xy = hn::Add(xy, hn::Mul(x, y));
  }
  const auto where =
      hn::Gt(hn::Abs(xy),
             hn::Mul(Constant(kSmall), hn::Mul(hn::Sqrt(xx), hn::Sqrt(yy))));
  if (hn::AllFalse(Tag<T>(), where)) return false;
  const auto turn = TurnOf<T>(xx, yy, xy, where);
  for (int64_t k = 0; k < n; ++k) turn.Apply(a, p * n + k, q * n + k);
  for (int64_t k = 0; k < m; ++k) turn.Apply(j, p * m + k, q * m + k);
  return true;
}

template <typename T>
void Orthogonalize(int64_t m, int64_t n, T* a, T* j) {
  ForVectors<T>([&](int64_t at) HWY_ATTR {
    const MatrixElements<T> of_a{a + at}, of_j{j + at};
    MakeIdentity(m, of_j);
    Sweep(m, [&](int64_t p, int64_t q) HWY_ATTR {
      return OrthogonalizePair(m, n, p, q, of_a, of_j);
    });
  });
}

template <typename T>
const MatrixLanes<T>& Lanes() {
  static constexpr MatrixLanes<T> kLanes = {Factor<T>, Diagonalize<T>,
                                            Orthogonalize<T>};
  return kLanes;
}

}  // namespace

const MatrixLanes<float>& FloatLanes() { return Lanes<float>(); }
const MatrixLanes<double>& DoubleLanes() { return Lanes<double>(); }

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hawser::cpu {

template <>
const MatrixLanes<float>& FindMatrixLanes(Isa isa) {
  HAWSER_BY_ISA(isa, HWY_NAMESPACE::FloatLanes(), FloatLanes())
}
template <>
const MatrixLanes<double>& FindMatrixLanes(Isa isa) {
  HAWSER_BY_ISA(isa, HWY_NAMESPACE::DoubleLanes(), DoubleLanes())
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
