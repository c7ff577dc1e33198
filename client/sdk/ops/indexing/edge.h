// Parts cut off at the edges, and elements added around them.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEXING_EDGE_H_
#define HAWSER_CLIENT_SDK_OPS_INDEXING_EDGE_H_

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// x, axes and "as usual": see shape.h.

// Cut in two. at: how many entries of the axis go to the first part; negative:
// how many to the second. Result: both parts. Errors: as usual; `at` beyond the
// size. Grad: joined again. Source: Nx split.
std::pair<Tensor, Tensor> Split(const Operand& x, int64_t at,
                                int64_t axis = 0);

// A part of an axis: Fraction{0.7}.
struct Fraction {
  double part = 0;
};
// Cut in two by a fraction. at: of the axis goes to the first part, rounded up
// to whole entries. Result: both parts. Errors: as usual; a fraction that is
// not between 0 and 1. Grad: joined again. Source: Nx split.
std::pair<Tensor, Tensor> Split(const Operand& x, Fraction at,
                                int64_t axis = 0);

// Elements added before, after and between those of one axis; a negative low
// or high crops, after `interior` was put in.
struct Padding {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;
};
// Adds a value around and between the elements of x. value: a number or scalar;
// its dtype and x's promote. paddings: one for each axis. Result: the sizes so
// grown. Errors: as usual; another number of paddings. Grad: to the elements,
// and to the value. Source: StableHLO pad; Nx pad.
Tensor Pad(const Operand& x, const Operand& value,
           absl::Span<const Padding> paddings);

// The elements beyond the edges of x, for an axis 0 1 2:
enum class Edge : uint8_t {
  kCyclic,     // ... 1 2 | 0 1 2 | 0 1 ...
  kReflect,    // ... 2 1 | 0 1 2 | 1 0 ...
  kMirror,     // ... 1 0 | 0 1 2 | 2 1 ...
  kReplicate,  // ... 0 0 | 0 1 2 | 2 2 ...
};
// Adds elements of x itself around it, repeated as often as it takes. paddings:
// one for each axis, none negative, no interior. Result: the sizes so grown.
// Errors: as usual; another number of paddings; an axis of size 0 that is
// padded. Grad: added to the elements repeated. Source: Nx pad_outer.
Tensor PadOuter(const Operand& x, Edge edge, absl::Span<const Padding> paddings);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_INDEXING_EDGE_H_
