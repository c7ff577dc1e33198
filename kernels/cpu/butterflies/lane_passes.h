// LanePasses: what Fourier transforms are made of, over transforms side by
// side.
#ifndef HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_PASSES_H_
#define HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_PASSES_H_

#include <cstdint>

#include "kernels/cpu/isa/isa.h"

namespace hawser::cpu {

// Transforms side by side at most: a cache line of a part.
template <typename T>
inline constexpr int64_t kMostLanes = 64 / sizeof(T);
// The largest prime that a pass is made for.
inline constexpr int kMostRadix = 31;

// Complex numbers of `width` transforms: element j of transform l has its parts
// at re[j * width + l] and im[j * width + l]. Exchanged parts are the
// conjugate, turned by a quarter: a transform of these is the inverse one.
template <typename T>
struct LaneParts {
  T* re;
  T* im;

  LaneParts Exchanged() const { return {im, re}; }
};

// Complex numbers of transforms in memory: element j of transform l has its
// parts at data[2 * (j * step + l * apart)], one behind the other. Either step
// or apart is 1.
template <typename T>
struct LaneMemory {
  T* data;
  int64_t step, apart;
};

// One pass of Stockham's: n = before * radix * behind. Each group of `radix`
// elements is transformed and multiplied by its roots.
template <typename T>
struct LanePass {
  int radix;
  int64_t before;  // the product of the radices before
  int64_t behind;
  // e^(-2 pi i p k / (radix * behind)), p < behind, 0 < k < radix: the parts
  // one behind the other, row by row.
  const T* roots;
  // e^(-2 pi i k / radix), k < radix; of radices without a function of their
  // own.
  const T* turns;
};

// All take buffers whose width is a multiple of `lanes`. What a lane becomes
// depends on nothing but the lane, and is the same, bit for bit, in each set of
// instructions.
template <typename T>
struct LanePasses {
  int64_t lanes;  // of a vector

  void (*run)(const LanePass<T>& pass, LaneParts<T> from, LaneParts<T> to,
              int64_t width);

  // n elements of `count` transforms; the lanes behind them get copies.
  void (*load)(const LaneMemory<const T>& from, int64_t n, int64_t count,
               LaneParts<T> to, int64_t width);
  // Multiplied by `scale`.
  void (*store)(LaneParts<const T> from, int64_t n, int64_t count,
                int64_t width, T scale, const LaneMemory<T>& to);

  // Element j of lane l is multiplied by the complex number of parts
  // re[j * pitch + l] and im[j * pitch + l].
  void (*turn_lanes)(LaneParts<T> x, int64_t n, int64_t width,
                     LaneParts<const T> by, int64_t pitch);
  // Element j of all lanes is multiplied by the number of parts re[j], im[j].
  void (*turn_elements)(LaneParts<T> x, int64_t n, int64_t width,
                        LaneParts<const T> by);

  // x: the transform of elements 2j of real numbers, plus i times that of
  // elements 2j + 1, `half` elements. It becomes the first half + 1 elements of
  // the transform of all. roots: e^(-2 pi i k / (2 half)), 2k <= half.
  void (*join_halves)(LaneParts<T> x, int64_t half, int64_t width,
                      const T* roots);
  // Twice the inverse of that.
  void (*part_halves)(LaneParts<T> x, int64_t half, int64_t width,
                      const T* roots);
};

// For float and double.
template <typename T>
const LanePasses<T>& FindLanePasses(Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_BUTTERFLIES_LANE_PASSES_H_
