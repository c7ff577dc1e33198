// Parts of a tensor, by position.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEX_H_
#define HAWSER_CLIENT_SDK_OPS_INDEX_H_

#include <cstdint>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// All: x of any dtype, kept; axes may be negative, from the back; indices are
// integers. A start outside is clamped so that the length fits. Errors
// (sticky): an axis there is not, a length beyond the size, indices that are
// no integers. Grad: scattered back to where the parts were. Source: Nx
// 0.13.1, section 3.8 of the inventory.

// One start and length per axis, known now; a stride steps inside the length.
Tensor Slice(const Operand& x, absl::Span<const int64_t> starts,
             absl::Span<const int64_t> lengths,
             absl::Span<const int64_t> strides = {});
// The same along one axis; the start may be a tensor. Outside Jit a start that
// is a number is a parameter: other starts reuse the executable.
Tensor SliceAlongAxis(const Operand& x, const Operand& start, int64_t length,
                      int64_t axis = 0, int64_t stride = 1);
// `count` rows, entries of axis 0, from `start` on.
Tensor Rows(const Operand& x, const Operand& start, int64_t count);
// One start per axis, numbers or integer scalars.
Tensor DynamicSlice(const Operand& x, absl::Span<const Operand> starts,
                    absl::Span<const int64_t> lengths);
// x with `part` written over the slice at `starts`. The dtypes promote.
Tensor PutSlice(const Operand& x, absl::Span<const Operand> starts,
                const Operand& part);

// The entries of an axis at `indices`, whose shape replaces the axis. Indices
// outside are clamped to the first or last entry.
Tensor Take(const Operand& x, const Operand& indices, int64_t axis = 0);
// The last axis of `indices` holds an index vector for `axes` of x (none
// given: the leading ones); the other axes of x follow at the end.
Tensor Gather(const Operand& x, const Operand& indices,
              absl::Span<const int64_t> axes = {});

// x with `updates` added at, or put over, the entries that the last axis of
// `indices` addresses by an index vector for `axes` of x (none given: the
// leading ones). `updates` broadcasts to the other axes of `indices`, then the
// other axes of x; the dtypes promote. In the order of the updates: repeats
// add up, of those put the last one stays. What would fall outside x is
// dropped, not clamped. Source: Nx 0.13.1, indexed_add and indexed_put.
Tensor IndexedAdd(const Operand& x, const Operand& indices,
                  const Operand& updates, absl::Span<const int64_t> axes = {});
Tensor IndexedPut(const Operand& x, const Operand& indices,
                  const Operand& updates, absl::Span<const int64_t> axes = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_INDEX_H_
