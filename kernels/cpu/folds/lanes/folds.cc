// Compiled for each set of instructions in turn, as convert.cc is. All of them
// fold in the order of kernels/cpu/elements/folds.h.
#include "kernels/cpu/elements/folds.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/folds/lanes/fold_lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/folds/lanes/folds.cc"
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

// x * Neutral() = Neutral() * x = x, bit for bit.
template <typename F, typename T>
constexpr T Neutral() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<F, Plus>) {
    return kIsReal<T> ? static_cast<T>(-0.0) : T{0};
  } else if constexpr (std::is_same_v<F, Times>) {
    return T{1};
  } else if constexpr (std::is_same_v<F, Larger>) {
    return kIsReal<T> ? -Limits::infinity() : Limits::lowest();
  } else if constexpr (std::is_same_v<F, Smaller>) {
    return kIsReal<T> ? Limits::infinity() : Limits::max();
  } else {
    return static_cast<T>(std::is_same_v<F, BitAnd> ? ~T{0} : T{0});
  }
}

// ---- rows into a row --------------------------------------------------------

template <typename F>
constexpr bool kIsExtreme =
    std::is_same_v<F, Larger> || std::is_same_v<F, Smaller>;
// True if there are vectors for it.
template <typename F, typename T>
constexpr bool kHasVectors = kIsReal<T> || !std::is_same_v<F, Times>;

template <typename F, typename V>
HWY_INLINE V OfVectors(V all, V x) {
  if constexpr (std::is_same_v<F, Plus>) {
    return hn::Add(all, x);
  } else if constexpr (std::is_same_v<F, Times>) {
    return hn::Mul(all, x);
  } else if constexpr (std::is_same_v<F, Larger>) {
    return hn::Max(x, all);
  } else if constexpr (std::is_same_v<F, Smaller>) {
    return hn::Min(x, all);
  } else if constexpr (std::is_same_v<F, BitAnd>) {
    return hn::And(all, x);
  } else {
    return hn::Or(all, x);
  }
}

// to[j] = to[j] * x[0][j] * x[1][j] * ..., one element after the other.
template <typename F, typename Acc, typename In>
HWY_INLINE void FoldElements(const In* x, int64_t rows, int64_t stride,
                             int64_t n, Acc* to) {
  for (int64_t r = 0; r < rows; ++r) {
    HAWSER_INDEPENDENT_ITERATIONS
    for (int64_t j = 0; j < n; ++j) {
      to[j] =
          F::template Apply<Acc>(to[j], static_cast<Acc>(x[r * stride + j]));
    }
  }
}

// The same of kFoldLanes columns, which stay in registers. The extremes of
// vectors know neither NaN nor two zeros: where one comes up, each element is
// looked at.
template <typename F, typename Acc, typename In>
HWY_INLINE void FoldStrip(const In* x, int64_t rows, int64_t stride, Acc* to) {
  using D = hn::ScalableTag<Acc>;
  const D d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
  constexpr int kVectors = kFoldLanes / kLanes;
  if constexpr (kVectors == 0) {
    FoldElements<F>(x, rows, stride, kFoldLanes, to);
  } else {
    constexpr bool kLooks = kIsExtreme<F> && kIsReal<Acc>;
    hn::Vec<D> all[kVectors];
    auto numbers = hn::Eq(hn::Zero(d), hn::Zero(d));
    for (int k = 0; k < kVectors; ++k) all[k] = hn::LoadU(d, to + k * kLanes);
    if constexpr (kLooks) {
      for (int k = 0; k < kVectors; ++k) {
        numbers = hn::And(numbers, hn::Eq(all[k], all[k]));
      }
    }
    for (int64_t r = 0; r < rows; ++r) {
      for (int k = 0; k < kVectors; ++k) {
        const auto v = LoadAs(d, x + r * stride + k * kLanes);
        if constexpr (kLooks) numbers = hn::And(numbers, hn::Eq(v, v));
        all[k] = OfVectors<F>(all[k], v);
      }
    }
    if constexpr (kLooks) {
      for (int k = 0; k < kVectors; ++k) {
        numbers = hn::And(numbers, hn::Ne(all[k], hn::Zero(d)));
      }
      if (!hn::AllTrue(d, numbers)) {
        return FoldElements<F>(x, rows, stride, kFoldLanes, to);
      }
    }
    for (int k = 0; k < kVectors; ++k) hn::StoreU(all[k], d, to + k * kLanes);
  }
}

// The same of any number of columns; halves: of n <= kChunk.
template <typename F, typename Acc, typename In>
HWY_INLINE void Accumulate(const In* x, int64_t rows, int64_t stride, int64_t n,
                           Acc* to) {
  if constexpr (kIsHalfLane<In>) {
    HWY_ALIGN float wide[kRowsAtOnce * kChunk];
    for (int64_t r = 0; r < rows; r += kRowsAtOnce) {
      const int64_t m = Least(rows - r, kRowsAtOnce);
      for (int64_t k = 0; k < m; ++k) {
        Widen(x + (r + k) * stride, n, wide + k * kChunk);
      }
      Accumulate<F>(wide, m, kChunk, n, to);
    }
  } else {
    int64_t j = 0;
    if constexpr (kHasVectors<F, Acc>) {
      for (; j + kFoldLanes <= n; j += kFoldLanes) {
        FoldStrip<F>(x + j, rows, stride, to + j);
      }
    }
    FoldElements<F>(x + j, rows, stride, n - j, to + j);
  }
}

// ---- runs and columns -------------------------------------------------------

// The first half takes the second half, until kLast are left. Their number is
// known to the compiler, so that they stay in registers.
template <typename F, int kLanes, int kLast, typename Acc>
HWY_INLINE void Halve(Acc* lanes) {
  if constexpr (kLanes > kLast) {
    constexpr int kHalf = kLanes / 2;
    HAWSER_INDEPENDENT_ITERATIONS
    for (int l = 0; l < kHalf; ++l) {
      lanes[l] = F::template Apply<Acc>(lanes[l], lanes[l + kHalf]);
    }
    Halve<F, kHalf, kLast>(lanes);
  }
}

// An element is kOf numbers next to each other. `out` may be the first one.
template <typename F, typename Acc, typename In, int kOf>
void FoldRun(const In* x, int64_t n, Acc* out) {
  if (n > kFoldBlock) {
    const int64_t half = FirstHalf(n);
    Acc second[kOf];
    FoldRun<F, Acc, In, kOf>(x, half, out);
    FoldRun<F, Acc, In, kOf>(x + half * kOf, n - half, second);
    for (int l = 0; l < kOf; ++l) {
      out[l] = F::template Apply<Acc>(out[l], second[l]);
    }
    return;
  }
  if (n < kFewElements) {
    Acc all[kOf];
    for (int l = 0; l < kOf; ++l) all[l] = Neutral<F, Acc>();
    Accumulate<F>(x, n, kOf, kOf, all);
    for (int l = 0; l < kOf; ++l) out[l] = all[l];
    return;
  }
  constexpr int kLanes = kFoldLanes * kOf;
  HWY_ALIGN Acc lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = Neutral<F, Acc>();
  const int64_t rows = n / kFoldLanes;
  Accumulate<F>(x, rows, kLanes, kLanes, lanes);
  Accumulate<F>(x + rows * kLanes, 1, kLanes, n * kOf - rows * kLanes, lanes);
  Halve<F, kLanes, kOf>(lanes);
  for (int l = 0; l < kOf; ++l) out[l] = lanes[l];
}

// Folds of elements with their types left out.
template <typename F, typename Acc, typename In, int kOf = 1>
struct Loops {
  static void Run(const char* in, int64_t n, char* out) {
    FoldRun<F, Acc, In, kOf>(reinterpret_cast<const In*>(in), n,
                             reinterpret_cast<Acc*>(out));
  }
  // The same, of n numbers next to each other.
  static HWY_INLINE void Numbers(const In* x, int64_t rows, int64_t stride,
                                 int64_t n, Acc* to) {
    ForRowsAtOnce(x, rows, stride, n,
                  [&](int64_t r, int64_t some, int64_t j, int64_t m) HWY_ATTR {
                    Accumulate<F>(x + r * stride + j, some, stride, m, to + j);
                  });
  }
  static void Columns(const char* in, int64_t rows, int64_t stride, int64_t n,
                      char* out) {
    const In* x = reinterpret_cast<const In*>(in);
    Acc* to = reinterpret_cast<Acc*>(out);
    const int64_t m = n * kOf, step = stride * kOf;
    HWY_ALIGN Acc part[kFoldColumns * kOf];
    for (int64_t begin = 0; begin < rows; begin += kFoldRows) {
      for (int64_t k = 0; k < m; ++k) part[k] = Neutral<F, Acc>();
      Numbers(x + begin * step, Least(rows - begin, kFoldRows), step, m, part);
      if (begin == 0) {
        for (int64_t k = 0; k < m; ++k) to[k] = part[k];
      } else {
        FoldElements<F>(part, 1, 0, m, to);
      }
    }
  }
  static void AccumulateColumns(const char* in, int64_t rows, int64_t stride,
                                int64_t n, char* out) {
    Numbers(reinterpret_cast<const In*>(in), rows, stride * kOf, n * kOf,
            reinterpret_cast<Acc*>(out));
  }
  static Folds Of(const Folds& row) {
    return {row.in, row.accumulator, Run, Columns, AccumulateColumns};
  }
};

// ---- the table --------------------------------------------------------------

// The type in which callers that add up T itself leave sums and products.
template <typename T>
using Wider =
    std::conditional_t<kIsHalfLane<T>, float,
                       std::conditional_t<std::is_same_v<T, float>, double, T>>;

// T as F sees it: one type for all that have the same bits.
template <typename F, typename T>
struct SeenAs {
  using type = T;
};
template <typename F, typename T>
requires std::is_integral_v<T>
struct SeenAs<F, T> {
  using type = std::conditional_t<kIsExtreme<F>, T, std::make_unsigned_t<T>>;
};
template <typename F>
struct SeenAs<F, bool> {
  using type = uint8_t;
};

template <typename F>
Folds ByDType(const Folds& row) {
  return VisitDType(row.in, [&](auto tag) -> Folds {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      using Part = typename T::value_type;
      if constexpr (std::is_same_v<F, Plus>) {
        return row.in == row.accumulator ? Loops<F, Part, Part, 2>::Of(row)
                                         : Loops<F, double, Part, 2>::Of(row);
      }
      return row;
    } else if constexpr (!F::template kFor<Computed<T>>) {
      return row;
    } else {
      using In = typename SeenAs<F, T>::type;
      if constexpr (!kIsHalfLane<T>) {
        if (row.in == row.accumulator) return Loops<F, In, In>::Of(row);
      }
      if constexpr (!std::is_same_v<Wider<T>, T>) {
        if (row.accumulator == kDTypeOf<Wider<T>>) {
          return Loops<F, Wider<T>, In>::Of(row);
        }
      }
      return row;
    }
  });
}

struct FoldRow {
  const OpDef* op;
  Folds (*find)(const Folds& row);
};
constexpr FoldRow kRows[] = {
    {&kAdd, ByDType<Plus>},       {&kAnd, ByDType<BitAnd>},
    {&kMaximum, ByDType<Larger>}, {&kMinimum, ByDType<Smaller>},
    {&kMultiply, ByDType<Times>}, {&kOr, ByDType<BitOr>},
};

Folds Find(const OpDef& op, const Folds& of_row) {
  for (const FoldRow& row : kRows) {
    if (row.op == &op) return row.find(of_row);
  }
  return of_row;
}

}  // namespace

}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();
#endif  // HWY_SCALAR

#if HWY_ONCE
namespace hawser::cpu {

Folds FindFolds(const OpDef& monoid, const Folds& of_row, Isa isa) {
  HAWSER_BY_ISA(isa, of_row, Find(monoid, of_row))
}

}  // namespace hawser::cpu
#endif  // HWY_ONCE
