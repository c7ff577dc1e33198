// Scans of runs and of columns with a monoid's functor, in an order that
// lengths alone decide: bits depend neither on threads nor on instructions.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_SCAN_RUNS_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_SCAN_RUNS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/elements/conversion.h"
#include "kernels/cpu/elements/folds.h"

namespace hawser::cpu {

// A run is scanned a block after the other; a block is segments, whose elements
// run on from their own first one, side by side with the other segments'. The
// total before a segment is added afterwards.
inline constexpr int64_t kScanSegment = 64;
inline constexpr int64_t kScanSegments = 16;
inline constexpr int64_t kScanBlock = kScanSegments * kScanSegment;

// Elements of a run are `step` apart.
template <typename F, typename Acc, typename T>
class BlockScan {
 public:
  using Local = ComputeType<T>;

  // Scans 1 to kScanBlock elements.
  BlockScan(const T* x, int64_t step, int64_t n) : n_(n) {
    if (n == kScanBlock) {
      for (int64_t s = 0; s < kScanSegments; s += kAbreast) {
        Abreast(x + s * kScanSegment * step, step, &local_[s * kScanSegment]);
      }
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const Local next = ConvertElement<Local>(x[i * step]);
      local_[i] = i % kScanSegment == 0 ? next : F::Apply(local_[i - 1], next);
    }
  }

  // The total of all elements.
  Acc Total() const {
    Acc total = LastOf(0);
    for (int64_t s = 1; s < Segments(); ++s) {
      total = F::Apply(total, LastOf(s));
    }
    return total;
  }

  // `before`: what stands before the block; null: nothing does.
  void Write(const Acc* before, T* out, int64_t step) const {
    Acc within = {};
    for (int64_t s = 0; s < Segments(); ++s) {
      const int64_t begin = s * kScanSegment;
      const int64_t end = std::min(begin + kScanSegment, n_);
      if (s == 0 && before == nullptr) {
        for (int64_t i = begin; i < end; ++i) {
          out[i * step] = ConvertElement<T>(local_[i]);
        }
      } else {
        const Acc first = s == 0              ? *before
                          : before == nullptr ? within
                                              : F::Apply(*before, within);
        Behind(first, begin, end, out, step);
      }
      within = s == 0 ? LastOf(s) : F::Apply(within, LastOf(s));
    }
  }

 private:
  static constexpr int kAbreast = 8;
  // Sums of f32: what stands before is added in two parts, which loses no more
  // than one f64 and takes no wider lanes.
  static constexpr bool kAddsWider =
      std::is_same_v<F, Add> && std::is_same_v<T, float> &&
      std::is_same_v<Acc, double>;

  static void Abreast(const T* x, int64_t step, Local* local) {
    Local running[kAbreast];
    for (int s = 0; s < kAbreast; ++s) {
      running[s] = ConvertElement<Local>(x[s * kScanSegment * step]);
      local[s * kScanSegment] = running[s];
    }
    for (int64_t t = 1; t < kScanSegment; ++t) {
#pragma GCC unroll 8
      for (int s = 0; s < kAbreast; ++s) {
        running[s] =
            F::Apply(running[s],
                     ConvertElement<Local>(x[(s * kScanSegment + t) * step]));
        local[s * kScanSegment + t] = running[s];
      }
    }
  }

  // out[i] = first * local_[i].
  void Behind(Acc first, int64_t begin, int64_t end, T* out,
              int64_t step) const {
    if constexpr (kAddsWider) {
      const auto high = static_cast<Local>(first);
      if (std::isfinite(high)) {
        // A rest of 0 becomes -0, which leaves the other zero's sign.
        const auto rest = static_cast<Local>(first - high);
        const Local low = rest == 0 ? -Local{0} : rest;
        ForStep(begin, end, step, [&](int64_t i, int64_t at) {
          out[at] = high + (low + local_[i]);
        });
        return;
      }
    }
    ForStep(begin, end, step, [&](int64_t i, int64_t at) {
      out[at] =
          ConvertElement<T>(F::Apply(first, ConvertElement<Acc>(local_[i])));
    });
  }

  // fn(i, i * step), compiled for elements side by side too.
  template <typename Fn>
  static void ForStep(int64_t begin, int64_t end, int64_t step, Fn fn) {
    if (step == 1) {
      for (int64_t i = begin; i < end; ++i) fn(i, i);
    } else {
      for (int64_t i = begin; i < end; ++i) fn(i, i * step);
    }
  }

  int64_t Segments() const { return (n_ + kScanSegment - 1) / kScanSegment; }
  Acc LastOf(int64_t segment) const {
    return ConvertElement<Acc>(
        local_[std::min((segment + 1) * kScanSegment, n_) - 1]);
  }

  const int64_t n_;
  Local local_[kScanBlock];
};

// ---- with their types left out --------------------------------------------

struct RunScan {
  DType accumulator;
  // Writes the total of a block.
  void (*total)(const char* x, int64_t step, int64_t n, char* total);
  // A block, and what it and all before it come to; `before` as of Write, and
  // may be `after`.
  void (*block)(const char* x, int64_t step, int64_t n, const char* before,
                char* out, char* after);
  // to = to * next.
  void (*add)(const char* next, char* to);
  // The next of several rows side by side: out[j] = running[j] * x[j]; of the
  // first row running is made.
  void (*row)(const char* x, int64_t n, bool is_first, char* running,
              char* out);
};

template <typename F, typename T,
          typename Acc = typename AccumulatorOf<F, T>::type>
inline constexpr RunScan kScanOf = {
    kDTypeOf<Acc>,
    [](const char* x, int64_t step, int64_t n, char* total) {
      *reinterpret_cast<Acc*>(total) =
          BlockScan<F, Acc, T>(reinterpret_cast<const T*>(x), step, n).Total();
    },
    [](const char* x, int64_t step, int64_t n, const char* before, char* out,
       char* after) {
      const BlockScan<F, Acc, T> scan(reinterpret_cast<const T*>(x), step, n);
      const Acc* first = reinterpret_cast<const Acc*>(before);
      scan.Write(first, reinterpret_cast<T*>(out), step);
      const Acc total = scan.Total();
      *reinterpret_cast<Acc*>(after) =
          first == nullptr ? total : F::Apply(*first, total);
    },
    [](const char* next, char* to) {
      Acc& all = *reinterpret_cast<Acc*>(to);
      all = F::Apply(all, *reinterpret_cast<const Acc*>(next));
    },
    [](const char* x, int64_t n, bool is_first, char* running, char* out) {
      const T* from = reinterpret_cast<const T*>(x);
      Acc* all = reinterpret_cast<Acc*>(running);
      T* to = reinterpret_cast<T*>(out);
      for (int64_t j = 0; j < n; ++j) {
        const Acc next = ConvertElement<Acc>(from[j]);
        all[j] = is_first ? next : F::Apply(all[j], next);
        to[j] = ConvertElement<T>(all[j]);
      }
    }};

// nullptr where F is not for the dtype.
template <typename F>
const RunScan* ScanBy(DType dtype) {
  return VisitDType(dtype, [](auto tag) -> const RunScan* {
    using T = typename decltype(tag)::type;
    if constexpr (requires(ComputeType<T> x) { F::Apply(x, x); }) {
      return &kScanOf<F, T>;
    } else {
      return nullptr;
    }
  });
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_SCAN_RUNS_H_
