// AxisTrack: an array as runs along one axis.
#ifndef HAWSER_KERNELS_CPU_MOVEMENT_AXIS_TRACK_H_
#define HAWSER_KERNELS_CPU_MOVEMENT_AXIS_TRACK_H_

#include <cstdint>

#include "core/base/values/shape.h"

namespace hawser::cpu {

// Run (o, j) of [outer, size, inner], numbered o * inner + j, is elements
// (o, i, j), from the last one on where it is reversed.
struct AxisTrack {
  AxisTrack(const Shape& shape, int64_t axis, bool reversed = false) {
    for (int d = 0; d < shape.rank(); ++d) {
      (d < axis ? outer : d == axis ? size : inner) *= shape.dim(d);
    }
    step = reversed ? -inner : inner;
    first = reversed ? (size - 1) * inner : 0;
  }
  int64_t runs() const { return outer * inner; }
  // The first element of a run; the others follow `step` apart.
  int64_t Begin(int64_t run) const {
    return run / inner * size * inner + run % inner + first;
  }

  int64_t outer = 1, size = 1, inner = 1;
  int64_t step = 1, first = 0;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MOVEMENT_AXIS_TRACK_H_
