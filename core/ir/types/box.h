// Box: a rectangular part of a tensor, and whose part it is.
#ifndef HAWSER_CORE_IR_TYPES_BOX_H_
#define HAWSER_CORE_IR_TYPES_BOX_H_

#include <compare>
#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace hawser::ir {

// Indices of one axis: those from `begin` on, below `end`.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  friend auto operator<=>(const Interval&, const Interval&) = default;
};

// One interval per axis, each within the axis; of a scalar, none.
using Box = absl::InlinedVector<Interval, 4>;

// A part of one of the values that a module's parts pass on: of a parameter, a
// result, or a value between tasks.
struct Piece {
  int value = 0;  // its number
  Box box;
  friend bool operator==(const Piece&, const Piece&) = default;
};

}  // namespace hawser::ir
#endif  // HAWSER_CORE_IR_TYPES_BOX_H_
