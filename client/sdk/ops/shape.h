// The same elements under other axes, repeated, joined, padded or reversed.
#ifndef HAWSER_CLIENT_SDK_OPS_SHAPE_H_
#define HAWSER_CLIENT_SDK_OPS_SHAPE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {

// All: any dtype, kept; axes may be negative, from the back. Errors (sticky):
// an axis there is not, sizes that do not fit. Grad: the same movement
// backwards. Source: Nx 0.13.1, section 3.3 of the inventory.

// Row-major order under other sizes; one of them may be -1: what is left over.
Tensor Reshape(const Operand& x, absl::Span<const int64_t> dims);
// One axis.
Tensor Flatten(const Operand& x);
// Without the given axes, which have size 1; none given: all of size 1.
Tensor Squeeze(const Operand& x, absl::Span<const int64_t> axes = {});
// With a new axis of size 1 at `axis` of the result.
Tensor ExpandDims(const Operand& x, int64_t axis);
// Repeated to these sizes by NumPy's rule.
Tensor BroadcastTo(const Operand& x, absl::Span<const int64_t> dims);
// Axis i of the result is axis permutation[i] of x; none given: reversed.
Tensor Transpose(const Operand& x, absl::Span<const int64_t> permutation = {});
// The order of elements along these axes reversed; none given: along all.
Tensor Reverse(const Operand& x, absl::Span<const int64_t> axes = {});

// Joined along an axis there is, or along a new one. At least one tensor; the
// dtypes promote, all other sizes are equal.
Tensor Concatenate(absl::Span<const Tensor> tensors, int64_t axis = 0,
                   SourceLocation where = SourceLocation::Current());
Tensor Stack(absl::Span<const Tensor> tensors, int64_t axis = 0,
             SourceLocation where = SourceLocation::Current());

// Elements added before, after and between those of one axis; a negative low
// or high crops, after `interior` was put in.
struct Padding {
  int64_t low = 0;
  int64_t high = 0;
  int64_t interior = 0;
};
// One Padding per axis; `value` is a number or a scalar.
Tensor Pad(const Operand& x, const Operand& value,
           absl::Span<const Padding> paddings);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_SHAPE_H_
