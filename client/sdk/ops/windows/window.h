// Windows that slide along a tensor's axes.
#ifndef HAWSER_CLIENT_SDK_OPS_WINDOWS_WINDOW_H_
#define HAWSER_CLIENT_SDK_OPS_WINDOWS_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/sdk/operand.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/tensor.h"
#include "core/base/values/shape.h"

namespace hawser {

// WindowMax(x, {1, 2, 2, 1}, {.strides = {1, 2, 2, 1}, .same_size = true}).
// Lists have one entry an axis of x; none at all: 1, and no padding.
struct WindowOptions {
  Dims strides = {};                  // elements between two windows
  std::vector<Padding> padding = {};  // around x; a negative one cuts
  // Pads so that with strides of 1 the result has x's sizes, the odd element
  // behind; instead of `padding`.
  bool same_size = false;
  Dims dilations = {};  // elements between two places of a window
};

// x: a tensor. window: its sizes, one an axis of x. options: see above. Result:
// an axis has as many elements as windows fit into it. Under Errors, which are
// all sticky and kInvalidArgument, "as usual" means lists of another length
// than x has axes, sizes, strides and dilations below 1, `padding` beside
// `same_size`, padding between elements, a dtype the function is not defined
// for.

// The sum of each window. x: of numbers, or bool. Result: x's dtype, where
// integers wrap; u32 of bool; halves are added up in f32. Errors: as usual.
// Grad: to each element the sum of g of its windows. Source: Nx window_sum.
Tensor WindowSum(const Operand& x, const Dims& window,
                 const WindowOptions& options = {});

// The product of each window. x: as of WindowSum. Result: as there. Errors: as
// usual. Grad: exact with zeros. Source: Nx window_product.
Tensor WindowProduct(const Operand& x, const Dims& window,
                     const WindowOptions& options = {});

// The mean of each window, in which padding counts as zeros. x: of numbers, or
// bool. Result: x's dtype, f32 of integers and bool. Errors: as usual. Grad: as
// of WindowSum, divided. Source: Nx window_mean.
Tensor WindowMean(const Operand& x, const Dims& window,
                  const WindowOptions& options = {});

// The largest of each window; padding never is. x: of reals or bool. Result:
// x's dtype; NaN wins; of padding alone the lowest there is. Errors: as usual;
// complex. Grad: to the last of the elements that tie. Source: Nx window_max.
Tensor WindowMax(const Operand& x, const Dims& window,
                 const WindowOptions& options = {});

// The smallest of each window; padding never is. x: as of WindowMax. Result: x's
// dtype; NaN wins; of padding alone the highest there is. Errors: as usual;
// complex. Grad: as of WindowMax. Source: Nx window_min.
Tensor WindowMin(const Operand& x, const Dims& window,
                 const WindowOptions& options = {});

// What a function makes of each window. x: of any dtype. initial: a number or
// scalar that changes nothing (the neutral element); padding counts as it. fn:
// (running value, next element) -> running value, scalars of the promoted
// dtype; taken to be associative; small host values may be captured, traced
// tensors not. Result: the promoted dtype. Errors: as usual; fn that gives
// another shape or dtype. Grad: where fn is smooth and elementwise. Source: Nx
// window_reduce.
Tensor WindowReduce(const Operand& x, const Operand& initial,
                    const Dims& window,
                    absl::FunctionRef<Tensor(Tensor, Tensor)> fn,
                    const WindowOptions& options = {});

// Adds what `source` holds for each window to the last of the window's largest
// elements. source: of the sizes that WindowMax(x, window) has. initial: a
// number or scalar that every element begins with. Result: x's sizes; the
// promoted dtype of all three. Errors: as usual; complex; a source of other
// sizes. Grad: to source, and to initial. Source: Nx window_scatter_max;
// StableHLO select_and_scatter.
Tensor WindowScatterMax(const Operand& x, const Operand& source,
                        const Operand& initial, const Dims& window,
                        const WindowOptions& options = {});

// The same of the smallest elements. Result: as of WindowScatterMax. Errors: as
// there. Grad: as there. Source: Nx window_scatter_min.
Tensor WindowScatterMin(const Operand& x, const Operand& source,
                        const Operand& initial, const Dims& window,
                        const WindowOptions& options = {});

// Unfold(x, 1, 3, {.stride = 2}).
struct UnfoldOptions {
  int64_t stride = 1;
  int64_t dilation = 1;
};
// All windows of `size` elements along an axis, as an axis of their own. x: a
// tensor of any dtype. axis: may be negative, from the back. Result: the axis
// numbers windows, and a new last one the elements of a window. No memory is
// used for it where what reads it runs by the same kernel. Errors: an axis
// there is not; size, stride or dilation below 1. Grad: the sum of what windows
// have of an element. Source: torch Tensor.unfold.
Tensor Unfold(const Operand& x, int64_t axis, int64_t size,
              const UnfoldOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_WINDOWS_WINDOW_H_
