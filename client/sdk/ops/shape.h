// The same elements under other axes, repeated, joined or reversed.
#ifndef HAWSER_CLIENT_SDK_OPS_SHAPE_H_
#define HAWSER_CLIENT_SDK_OPS_SHAPE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {

// x: a tensor of any dtype, kept, or a number, a scalar. Axes may be negative,
// from the back. Under Errors, which are all sticky and kInvalidArgument, "as
// usual" means an axis there is not or that is given twice, a size that is
// negative or makes a shape there is not. Every gradient is the same movement
// backwards, with what was repeated summed.

// Row-major order under other sizes. dims: sizes; one may be -1, what is left
// over. Result: `dims`. Errors: as usual; another number of elements. Grad:
// reshaped back. Source: StableHLO reshape; Nx reshape.
Tensor Reshape(const Operand& x, absl::Span<const int64_t> dims);

// One axis, row-major. Result: [elements]. Errors: none. Grad: reshaped back.
// Source: Nx flatten.
Tensor Flatten(const Operand& x);

// Neighbouring axes as one, row-major. axes: which, in their order. Result: the
// others and, in their place, one. Errors: as usual; axes that are no
// neighbours, or none. Grad: reshaped back. Source: Nx flatten.
Tensor Flatten(const Operand& x, absl::Span<const int64_t> axes);

// Drops axes of size 1. axes: which; none given: all of size 1. Result: the
// others. Errors: as usual; an axis of another size. Grad: reshaped back.
// Source: Nx squeeze.
Tensor Squeeze(const Operand& x, absl::Span<const int64_t> axes = {});

// Adds an axis of size 1. axis: its place in the result. Result: rank one
// higher. Errors: as usual. Grad: reshaped back. Source: Nx new_axis; NumPy
// expand_dims.
Tensor ExpandDims(const Operand& x, int64_t axis);

// Repeated to sizes. dims: sizes. axes: axis i of x becomes axis axes[i]; none:
// NumPy's rule, the last axis of x the last of dims. Result: `dims`. Errors: as
// usual; an axis of x that is neither 1 nor of the size it becomes; another
// number of axes than x has. Grad: summed. Source: Nx broadcast; StableHLO
// broadcast_in_dim.
Tensor BroadcastTo(const Operand& x, absl::Span<const int64_t> dims,
                   absl::Span<const int64_t> axes = {});

// Repeated like tiles. repetitions: one for each axis, aligned at the last; the
// rank may grow. Result: sizes times repetitions. Errors: as usual. Grad:
// summed. Source: Nx tile; NumPy tile.
Tensor Tile(const Operand& x, absl::Span<const int64_t> repetitions);

// Axes in another order. permutation: axis i of the result is that axis of x;
// none given: reversed. Result: the sizes so ordered. Errors: as usual. Grad:
// transposed back. Source: StableHLO transpose; Nx transpose.
Tensor Transpose(const Operand& x, absl::Span<const int64_t> permutation = {});

// Elements in reversed order. axes: along which; none given: all. Result: x's
// sizes. Errors: as usual. Grad: reversed. Source: StableHLO reverse; Nx
// reverse.
Tensor Reverse(const Operand& x, absl::Span<const int64_t> axes = {});

// Joined along an axis there is. tensors: at least one; the dtypes promote, all
// other sizes are equal. Result: the sizes along `axis` added. Errors: as
// usual; none, other sizes. Grad: cut again. Source: StableHLO concatenate; Nx
// concatenate.
Tensor Concatenate(absl::Span<const Tensor> tensors, int64_t axis = 0,
                   SourceLocation where = SourceLocation::Current());

// Joined along a new axis. tensors: at least one, of equal sizes; the dtypes
// promote. axis: its place in the result. Result: rank one higher. Errors: as
// usual; none, other sizes. Grad: cut again. Source: Nx stack.
Tensor Stack(absl::Span<const Tensor> tensors, int64_t axis = 0,
             SourceLocation where = SourceLocation::Current());

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_SHAPE_H_
