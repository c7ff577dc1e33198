// Finds the indices of extremes. Highway compiles it once for each instruction
// set, as convert.cc.
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/folds/lanes/fold_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/folds/lanes/extremes.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#include "hwy/foreach_target.h"
// Highway wants it after foreach_target.h.
#include "hwy/highway.h"
#include "kernels/cpu/folds/lanes/rows-inl.h"
#include "kernels/cpu/isa/by_isa.h"
#include "kernels/cpu/lanes/elements-inl.h"
#include "kernels/cpu/lanes/halves-inl.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

template <typename In>
using Value =
    std::conditional_t<kIsHalfLane<In>, float,
                       std::conditional_t<(sizeof(In) < 4), int32_t, In>>;
template <typename C>
using IndexFor = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;

// Which of two elements, looked at as C, is the extreme.
template <bool kLargest, bool kLast, typename C>
struct Order {
  // True if x, which comes later, replaces the best.
  static HWY_INLINE bool Wins(C x, C best) {
    const bool beyond = kLargest ? x > best : x < best;
    if constexpr (kLast) return x != x || x == best || beyond;
    return best == best && (x != x || beyond);
  }
  // Orders the indices of one value.
  static HWY_INLINE bool Before(C x, int64_t at, C best, int64_t best_at) {
    const bool same = x == best || (x != x && best != best);
    if (same) return kLast ? at > best_at : at < best_at;
    return Wins(x, best);
  }

  template <typename V>
  static HWY_INLINE auto WinsOf(V x, V best) {
    const V more = kLargest ? x : best, less = kLargest ? best : x;
    if constexpr (kLast && kIsReal<C>) {
      return hn::Not(hn::AndNot(hn::Ge(more, less), hn::Eq(x, x)));
    } else if constexpr (kLast) {
      return hn::Not(hn::Gt(less, more));
    } else if constexpr (kIsReal<C>) {
      return hn::AndNot(hn::Le(more, less), hn::Eq(best, best));
    } else {
      return hn::Gt(more, less);
    }
  }
  template <typename V>
  static HWY_INLINE V Further(V x, V best) {
    return kLargest ? hn::Max(x, best) : hn::Min(x, best);
  }
  // WinsOf where neither is NaN.
  template <typename V>
  static HWY_INLINE auto IsBeyond(V x, V best) {
    const V more = kLargest ? x : best, less = kLargest ? best : x;
    if constexpr (!kLast) {
      return hn::Gt(more, less);
    } else if constexpr (kIsReal<C>) {
      return hn::Ge(more, less);
    } else {
      return hn::Not(hn::Gt(less, more));
    }
  }
};

// Finds the indices of extremes by an order of C.
template <typename O, typename C>
struct ExtremeSearch {
  using P = IndexFor<C>;
  using D = hn::ScalableTag<C>;
  using DP = hn::ScalableTag<P>;

  // A column after the other.
  template <typename In>
  static HWY_INLINE void Elements(const In* x, int64_t rows, int64_t stride,
                                  int64_t n, int64_t before, C* best,
                                  P* where) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t j = 0; j < n; ++j) {
        const C v = static_cast<C>(x[r * stride + j]);
        if (before + r != 0 && !O::Wins(v, best[j])) continue;
        best[j] = v;
        where[j] = static_cast<P>(before + r);
      }
    }
  }

  // kFoldLanes columns, in registers. `kNumbers`: it may be done in vain, where
  // there is NaN; false then.
  template <bool kNumbers, typename In>
  static HWY_INLINE bool Strip(const In* x, int64_t rows, int64_t stride,
                               int64_t before, C* best, P* where) {
    const D d;
    const DP dp;
    constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
    constexpr int kVectors = kFoldLanes / kLanes;
    hn::Vec<D> b[kVectors];
    hn::Vec<DP> w[kVectors];
    for (int k = 0; k < kVectors; ++k) {
      b[k] = before == 0 ? LoadAs(d, x + k * kLanes)
                         : hn::LoadU(d, best + k * kLanes);
      w[k] = before == 0 ? hn::Zero(dp) : hn::LoadU(dp, where + k * kLanes);
    }
    auto numbers = hn::Eq(b[0], b[0]);
    for (int k = 1; k < kVectors; ++k) {
      numbers = hn::And(numbers, hn::Eq(b[k], b[k]));
    }
    for (int64_t r = before == 0 ? 1 : 0; r < rows; ++r) {
      const auto row = hn::Set(dp, static_cast<P>(before + r));
      for (int k = 0; k < kVectors; ++k) {
        const auto v = LoadAs(d, x + r * stride + k * kLanes);
        if constexpr (kNumbers) {
          if constexpr (kIsReal<C>) {
            numbers = hn::And(numbers, hn::Eq(v, v));
          }
          const auto beyond = O::IsBeyond(v, b[k]);
          b[k] = O::Further(v, b[k]);
          w[k] = hn::IfThenElse(hn::RebindMask(dp, beyond), row, w[k]);
        } else {
          const auto wins = O::WinsOf(v, b[k]);
          b[k] = hn::IfThenElse(wins, v, b[k]);
          w[k] = hn::IfThenElse(hn::RebindMask(dp, wins), row, w[k]);
        }
      }
    }
    if constexpr (kNumbers && kIsReal<C>) {
      if (!hn::AllTrue(d, numbers)) return false;
    }
    for (int k = 0; k < kVectors; ++k) {
      hn::StoreU(b[k], d, best + k * kLanes);
      hn::StoreU(w[k], dp, where + k * kLanes);
    }
    return true;
  }

  // Any number of columns; halves: n <= kChunk.
  template <typename In>
  static HWY_INLINE void Rows(const In* x, int64_t rows, int64_t stride,
                              int64_t n, int64_t before, C* best, P* where) {
    if constexpr (kIsHalfLane<In>) {
      HWY_ALIGN float wide[kRowsAtOnce * kChunk];
      for (int64_t r = 0; r < rows; r += kRowsAtOnce) {
        const int64_t m = Least(rows - r, kRowsAtOnce);
        for (int64_t k = 0; k < m; ++k) {
          Widen(x + (r + k) * stride, n, wide + k * kChunk);
        }
        Rows(wide, m, kChunk, n, before + r, best, where);
      }
    } else {
      int64_t j = 0;
      for (; j + kFoldLanes <= n; j += kFoldLanes) {
        if (Strip<true>(x + j, rows, stride, before, best + j, where + j)) {
          continue;
        }
        Strip<false>(x + j, rows, stride, before, best + j, where + j);
      }
      Elements(x + j, rows, stride, n - j, before, best + j, where + j);
    }
  }

  template <typename In>
  static void Columns(const char* in, int64_t rows, int64_t stride, int64_t n,
                      int64_t before, char* out) {
    const In* x = reinterpret_cast<const In*>(in);
    C* best = reinterpret_cast<C*>(out);
    P* where = reinterpret_cast<P*>(out) + n;
    ForRowsAtOnce(x, rows, stride, n,
                  [&](int64_t r, int64_t some, int64_t j, int64_t m) HWY_ATTR {
                    Rows(x + r * stride + j, some, stride, m, before + r,
                         best + j, where + j);
                  });
  }

  template <typename In>
  static void Run(const char* in, int64_t n, char* out) {
    const In* x = reinterpret_cast<const In*>(in);
    HWY_ALIGN C best[kFoldLanes];
    HWY_ALIGN P where[kFoldLanes];
    const int64_t rows = n / kFoldLanes, whole = rows * kFoldLanes;
    if (rows > 0) Rows(x, rows, kFoldLanes, kFoldLanes, 0, best, where);
    Rows(x + whole, 1, kFoldLanes, n - whole, rows, best, where);
    C first = best[0];
    int64_t at = int64_t{where[0]} * kFoldLanes;
    for (int l = 1; l < kFoldLanes && l < n; ++l) {
      const int64_t here = int64_t{where[l]} * kFoldLanes + l;
      if (!O::Before(best[l], here, first, at)) continue;
      first = best[l];
      at = here;
    }
    reinterpret_cast<C*>(out)[0] = first;
    reinterpret_cast<P*>(out)[1] = static_cast<P>(at);
  }
};

template <bool kLargest, bool kLast>
const ExtremeFolds* ExtremesOf(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> const ExtremeFolds* {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      return nullptr;
    } else {
      using In = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
      using C = Value<In>;
      using S = ExtremeSearch<Order<kLargest, kLast, C>, C>;
      static constexpr ExtremeFolds kFolds = {S::template Run<In>,
                                              S::template Columns<In>};
      return &kFolds;
    }
  });
}

const ExtremeFolds* FindExtreme(ExtremeKind kind, DType dtype) {
  if (kind.largest) {
    return kind.last ? ExtremesOf<true, true>(dtype)
                     : ExtremesOf<true, false>(dtype);
  }
  return kind.last ? ExtremesOf<false, true>(dtype)
                   : ExtremesOf<false, false>(dtype);
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

const ExtremeFolds* FindExtremes(ExtremeKind kind, DType dtype, Isa isa) {
  HAWSER_BY_ISA(isa, nullptr, FindExtreme(kind, dtype))
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
