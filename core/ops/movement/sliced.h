// Slices of expressions whose strides are 1.
#ifndef HAWSER_CORE_OPS_MOVEMENT_SLICED_H_
#define HAWSER_CORE_OPS_MOVEMENT_SLICED_H_

#include <cstdint>
#include <utility>

#include "core/base/values/shape.h"
#include "core/ops/expression.h"
#include "core/ops/movement/slice.h"

namespace hawser {

// Elements [start, limit) along each axis.
inline Expression SliceOf(const Expression& x, Dims start, Dims limit) {
  Dims strides(start.size(), 1);
  return Apply(kSlice, {x},
               {{"limit_indices", std::move(limit)},
                {"start_indices", std::move(start)},
                {"strides", std::move(strides)}});
}

// Elements [begin, end) along one axis, and all along the others. x itself
// after an error of the builder, when it has no axes.
inline Expression SliceAlong(const Expression& x, int64_t axis, int64_t begin,
                             int64_t end) {
  if (axis >= x.rank()) return x;
  Dims start(x.rank(), 0), limit = x.dims();
  start[axis] = begin;
  limit[axis] = end;
  return SliceOf(x, std::move(start), std::move(limit));
}

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_MOVEMENT_SLICED_H_
