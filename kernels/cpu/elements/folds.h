// Folds of runs and of columns with a monoid's functor. The order of operations
// is fixed by the lengths alone, so bits depend neither on threads nor on the
// instructions at hand (kernels/cpu/lanes), and sums lose less than one after
// another would: lanes, then halves.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_FOLDS_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_FOLDS_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/conversion.h"

namespace hawser::cpu {

// Partial results of a run: element i goes to number i % kFoldLanes, behind
// those before it. Then the first half takes the second half, until one is
// left.
inline constexpr int kFoldLanes = 32;
// Fewer elements are folded one after the other.
inline constexpr int64_t kFewElements = 16;
// The longest run folded without halving it.
inline constexpr int64_t kFoldBlock = 4096;
// Columns folded side by side, and rows before a partial result is set aside.
inline constexpr int64_t kFoldColumns = 1024;
inline constexpr int64_t kFoldRows = 512;

inline int64_t FoldBlocksOf(int64_t n) {
  return (n + kFoldBlock - 1) / kFoldBlock;
}
// The part that is folded first, of a run of more than kFoldBlock elements.
inline int64_t FirstHalf(int64_t n) {
  return (FoldBlocksOf(n) + 1) / 2 * kFoldBlock;
}

// x[0] * x[1] * ... of n >= 1 elements.
template <typename F, typename Acc, typename In>
Acc FoldRun(const In* x, int64_t n) {
  if (n > kFoldBlock) {
    const int64_t half = FirstHalf(n);
    return F::Apply(FoldRun<F, Acc>(x, half),
                    FoldRun<F, Acc>(x + half, n - half));
  }
  if (n < kFewElements) {
    Acc all = ConvertElement<Acc>(x[0]);
    for (int64_t i = 1; i < n; ++i) {
      all = F::Apply(all, ConvertElement<Acc>(x[i]));
    }
    return all;
  }
  Acc lanes[kFoldLanes];
  const int there = static_cast<int>(std::min<int64_t>(n, kFoldLanes));
  for (int l = 0; l < there; ++l) lanes[l] = ConvertElement<Acc>(x[l]);
  int64_t i = kFoldLanes;
  for (; i + kFoldLanes <= n; i += kFoldLanes) {
    for (int l = 0; l < kFoldLanes; ++l) {
      lanes[l] = F::Apply(lanes[l], ConvertElement<Acc>(x[i + l]));
    }
  }
  for (int l = 0; i + l < n; ++l) {
    lanes[l] = F::Apply(lanes[l], ConvertElement<Acc>(x[i + l]));
  }
  for (int step = kFoldLanes / 2; step > 0; step /= 2) {
    for (int l = 0; l < step && l + step < there; ++l) {
      lanes[l] = F::Apply(lanes[l], lanes[l + step]);
    }
  }
  return lanes[0];
}

// out[j] = x[0][j] * x[1][j] * ... of `rows` >= 1 rows, `stride` apart, for
// j < n <= kFoldColumns.
template <typename F, typename Acc, typename In>
void FoldColumns(const In* x, int64_t rows, int64_t stride, int64_t n,
                 Acc* out) {
  Acc part[kFoldColumns];
  for (int64_t begin = 0; begin < rows; begin += kFoldRows) {
    const int64_t end = std::min(begin + kFoldRows, rows);
    const In* row = x + begin * stride;
    for (int64_t j = 0; j < n; ++j) part[j] = ConvertElement<Acc>(row[j]);
    for (int64_t r = begin + 1; r < end; ++r) {
      row = x + r * stride;
      for (int64_t j = 0; j < n; ++j) {
        part[j] = F::Apply(part[j], ConvertElement<Acc>(row[j]));
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      out[j] = begin == 0 ? part[j] : F::Apply(out[j], part[j]);
    }
  }
}

// out[j] = out[j] * x[0][j] * x[1][j] * ..., one row after the other.
template <typename F, typename Acc, typename In>
void AccumulateColumns(const In* x, int64_t rows, int64_t stride, int64_t n,
                       Acc* out) {
  for (int64_t r = 0; r < rows; ++r) {
    const In* row = x + r * stride;
    for (int64_t j = 0; j < n; ++j) {
      out[j] = F::Apply(out[j], ConvertElement<Acc>(row[j]));
    }
  }
}

// ---- with their types left out --------------------------------------------

// The folds of one type into another.
struct Folds {
  DType in;
  DType accumulator;
  void (*run)(const char* in, int64_t rows, char* out);
  void (*columns)(const char* in, int64_t rows, int64_t stride, int64_t n,
                  char* out);
  // The same, folded into what `out` holds, one row after the other.
  void (*accumulate)(const char* in, int64_t rows, int64_t stride, int64_t n,
                     char* out);
};

// All that a reduction of one dtype with one functor takes.
struct Reduction {
  Folds elements;
  Folds parts;  // what `elements` left
  bool ordered;  // whether another order gives other bits
  // out[i] = initial * parts[i].
  void (*finish)(const char* initial, const char* parts, int64_t n, char* out);
};

template <typename F, typename Acc, typename In>
constexpr Folds FoldsOf() {
  return {
      kDTypeOf<In>, kDTypeOf<Acc>,
      [](const char* in, int64_t rows, char* out) {
        *reinterpret_cast<Acc*>(out) =
            FoldRun<F, Acc>(reinterpret_cast<const In*>(in), rows);
      },
      [](const char* in, int64_t rows, int64_t stride, int64_t n, char* out) {
        FoldColumns<F, Acc>(reinterpret_cast<const In*>(in), rows, stride, n,
                            reinterpret_cast<Acc*>(out));
      },
      [](const char* in, int64_t rows, int64_t stride, int64_t n, char* out) {
        AccumulateColumns<F, Acc>(reinterpret_cast<const In*>(in), rows, stride,
                                  n, reinterpret_cast<Acc*>(out));
      }};
}

template <typename F, typename Acc, typename T>
void Finish(const char* initial, const char* parts, int64_t n, char* out) {
  const Acc first = ConvertElement<Acc>(*reinterpret_cast<const T*>(initial));
  const Acc* values = reinterpret_cast<const Acc*>(parts);
  T* to = reinterpret_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = ConvertElement<T>(F::Apply(first, values[i]));
  }
}

// Sums and products of f16 and bf16 accumulate in f32, those of f32 in f64,
// and are rounded once.
template <typename F, typename T>
struct AccumulatorOf {
  using type = ComputeType<T>;
};
template <typename F, typename T>
requires std::same_as<F, Add> || std::same_as<F, Multiply>
struct AccumulatorOf<F, T> {
  using type = std::conditional_t<
      std::is_same_v<T, float>, double,
      std::conditional_t<std::is_same_v<T, std::complex<float>>,
                         std::complex<double>, ComputeType<T>>>;
};

template <typename F, typename T,
          typename Acc = typename AccumulatorOf<F, T>::type>
inline constexpr Reduction kReductionOf = {
    FoldsOf<F, Acc, T>(), FoldsOf<F, Acc, Acc>(),
    (std::same_as<F, Add> || std::same_as<F, Multiply>)&&!IntegerType<T> &&
        !std::same_as<T, bool>,
    Finish<F, Acc, T>};

// nullptr where F is not for the dtype.
template <typename F>
const Reduction* ReductionBy(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> const Reduction* {
    using T = typename decltype(tag)::type;
    if constexpr (requires(ComputeType<T> x) { F::Apply(x, x); }) {
      return &kReductionOf<F, T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_FOLDS_H_
