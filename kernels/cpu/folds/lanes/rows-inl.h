// Rows of elements side by side, for the set of instructions at hand: what the
// files share that fold them.
#if defined(HAWSER_KERNELS_CPU_FOLDS_LANES_ROWS_INL_H_) == \
    defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_FOLDS_LANES_ROWS_INL_H_
#undef HAWSER_KERNELS_CPU_FOLDS_LANES_ROWS_INL_H_
#else
#define HAWSER_KERNELS_CPU_FOLDS_LANES_ROWS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace hawser::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Rows of a column that are read side by side. Fewer would be read in bursts
// too short for the machine to see them coming, and more, where they lie apart
// by a power of two, do not find room in the nearest cache: the sum of 64 MiB
// of floats over columns takes 1.9 ms by 8 rows, 2.6 by 4 and 4.0 by 32.
constexpr int64_t kRowsAtOnce = 8;
// The hardware does not prefetch rows shorter than a page that are read side by
// side, so these are fewer, and the rows after the next ones are prefetched, in
// order. (The same over the middle axis of 256 x 256 x 256 takes 3.2 ms by 2
// rows, by 8 rows without asking 8.)
constexpr int64_t kPage = 4096;
constexpr int64_t kNearBytes = 2048;
// Columns that are folded before the next ones; as many as halves are widened,
// or fewer.
constexpr int64_t kColumnsAtOnce = 64;

template <typename T>
HWY_INLINE T Least(T a, T b) {
  return b < a ? b : a;
}

// Calls fn(row, rows, column, columns) for parts of the rows of n elements, at
// most kRowsAtOnce by kColumnsAtOnce.
template <typename In, typename Fn>
HWY_INLINE void ForRowsAtOnce(const In* x, int64_t rows, int64_t stride,
                              int64_t n, Fn fn) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(In));
  const bool are_near = stride == n && n * kBytes < kPage;
  int64_t most = kRowsAtOnce;
  while (are_near && most > 1 && most * n * kBytes > kNearBytes) most /= 2;
  for (int64_t r = 0; r < rows; r += most) {
    // A prefetch past the last row does nothing.
    const In* later = x + (r + 2 * most) * stride;
    for (int64_t j = 0; j < n; j += kColumnsAtOnce) {
      const int64_t m = Least(n - j, kColumnsAtOnce);
      for (int64_t at = 0; are_near && at < most * m * kBytes; at += 64) {
        hwy::Prefetch(reinterpret_cast<const char*>(later) + at);
      }
      later += most * m;
      fn(r, Least(rows - r, most), j, m);
    }
  }
}

// Elements as a vector of another type.
template <typename D, typename In>
HWY_INLINE hn::Vec<D> LoadAs(D d, const In* x) {
  if constexpr (std::is_same_v<In, hn::TFromD<D>>) {
    return hn::LoadU(d, x);
  } else {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<In, D>(), x));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hawser::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
