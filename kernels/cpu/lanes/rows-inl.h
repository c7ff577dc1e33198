// Rows of elements side by side, for the set of instructions at hand: what the
// files share that fold them.
#if defined(HAWSER_KERNELS_CPU_LANES_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HAWSER_KERNELS_CPU_LANES_ROWS_INL_H_
#undef HAWSER_KERNELS_CPU_LANES_ROWS_INL_H_
#else
#define HAWSER_KERNELS_CPU_LANES_ROWS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

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

template <typename T>
HWY_INLINE T Least(T a, T b) {
  return b < a ? b : a;
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
