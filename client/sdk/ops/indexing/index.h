// Parts of a tensor, by position.
#ifndef HAWSER_CLIENT_SDK_OPS_INDEXING_INDEX_H_
#define HAWSER_CLIENT_SDK_OPS_INDEXING_INDEX_H_

#include <cstdint>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// x: a tensor of any dtype, kept where nothing else is said. Axes may be
// negative, from the back; indices are integers.
//
// Starts and indices that are known when the expression is built - numbers,
// Scalar, Constant, host values - may be negative, from the back, and are an
// error when they are outside. Starts and indices that are known only when it
// runs - arguments of a Jit function, what was computed - are clamped into x: a
// start so that the length fits, an index to the first or last entry. Outside
// (below) can have all of them clamped.
//
// Under Errors, which are all sticky and kInvalidArgument, "as usual" means an
// axis there is not, a length that is negative or beyond the size, indices that
// are no integers or known to be outside. x[i] is in subscript.h.

// Rows(x, -3, 2, {.clamp = true}): Nx's rule for starts.
struct Outside {
  // Positions known when the expression is built are clamped like those that
  // are not: none is an error, and a negative one is the first entry.
  bool clamp = false;
};

// A part, known now. starts, lengths: one for each axis. strides: steps inside
// the length; none given: 1. Result: ceil(length / stride) along each axis.
// Errors: as usual; another number of starts, lengths or strides. Grad: put
// back, zero elsewhere. Source: StableHLO slice; Nx slice.
Tensor Slice(const Operand& x, absl::Span<const int64_t> starts,
             absl::Span<const int64_t> lengths,
             absl::Span<const int64_t> strides = {},
             const Outside& outside = {});

// A part of one axis. start: a number or an integer scalar; outside Jit a
// number is a parameter, so other starts reuse the executable. length, stride:
// as in Slice. Result: ceil(length / stride) along the axis. Errors: as usual.
// Grad: put back, zero elsewhere. Source: StableHLO dynamic_slice; Nx
// slice_along_axis.
Tensor SliceAlongAxis(const Operand& x, const Operand& start, int64_t length,
                      int64_t axis = 0, int64_t stride = 1,
                      const Outside& outside = {});

// Rows: entries of axis 0. start: as in SliceAlongAxis. count: how many.
// Result: [count, ...]. Errors: as usual; a scalar. Grad: put back, zero
// elsewhere. Source: Nx slice_along_axis.
Tensor Rows(const Operand& x, const Operand& start, int64_t count,
            const Outside& outside = {});

// A part that starts where values say. starts: a number or integer scalar for
// each axis. lengths: one for each axis.
// Result: `lengths`. Errors: as usual; another number of starts or lengths.
// Grad: put back, zero elsewhere. Source: StableHLO dynamic_slice; Nx slice.
Tensor DynamicSlice(const Operand& x, absl::Span<const Operand> starts,
                    absl::Span<const int64_t> lengths,
                    const Outside& outside = {});

// x with a part written over. starts: as in DynamicSlice. part: of x's rank, no
// larger in any axis; the dtypes promote. Result: x's shape. Errors: as usual;
// a part that does not fit. Grad: to both, where each is. Source: StableHLO
// dynamic_update_slice; Nx put_slice.
Tensor PutSlice(const Operand& x, absl::Span<const Operand> starts,
                const Operand& part, const Outside& outside = {});

// Entries of an axis. indices: integers of any shape, which replaces the axis.
// Result: x's sizes with those of indices in place of the axis. Errors: as
// usual. Grad: added back, as often as an entry was taken. Source: StableHLO
// gather; Nx take; NumPy take.
Tensor Take(const Operand& x, const Operand& indices, int64_t axis = 0,
            const Outside& outside = {});

// For each element of `indices` the one of x in the same place, but at that
// index along the axis. indices: integers of x's rank and, but for the axis,
// its sizes. Result: the shape of indices. Errors: as
// usual; other sizes. Grad: added back. Source: Nx take_along_axis; NumPy
// take_along_axis.
Tensor TakeAlongAxis(const Operand& x, const Operand& indices, int64_t axis,
                     const Outside& outside = {});

// Parts that index vectors address. indices: rank 1 or more; the last axis
// holds an index for each of `axes` of x (none given: the leading ones).
// Result: the other axes of indices, then the other axes of
// x. Errors: as usual; a scalar of indices, index vectors of another length.
// Grad: added back. Source: StableHLO gather; Nx gather.
Tensor Gather(const Operand& x, const Operand& indices,
              absl::Span<const int64_t> axes = {}, const Outside& outside = {});

// x with updates added at the places that index vectors address. indices, axes:
// as in Gather, but what falls outside x, negative or not, is dropped. updates:
// broadcast to what Gather would give; the dtypes promote; repeats add up, in
// the order of the updates. Result: x's shape. Errors: as usual; updates that
// do not broadcast. Grad: to x, and gathered to the updates. Source: StableHLO
// scatter; Nx indexed_add.
Tensor IndexedAdd(const Operand& x, const Operand& indices,
                  const Operand& updates, absl::Span<const int64_t> axes = {});

// x with updates put over what is at the places that index vectors address.
// indices, axes, updates: as in IndexedAdd; of repeats the last one stays.
// Result: x's shape. Errors: as usual; updates that do not broadcast. Grad: to
// what stayed of x and of the updates. Source: StableHLO scatter; Nx
// indexed_put.
Tensor IndexedPut(const Operand& x, const Operand& indices,
                  const Operand& updates, absl::Span<const int64_t> axes = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_INDEXING_INDEX_H_
