// Running values along an axis: each element combined with those before it.
#ifndef HAWSER_CLIENT_SDK_OPS_SCAN_H_
#define HAWSER_CLIENT_SDK_OPS_SCAN_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// CumulativeSum(x, {.axis = -1}). The axis may be negative, from the back.
struct Along {
  int64_t axis = 0;
  bool reverse = false;  // from the end to the beginning
};

// x: a tensor of at least one axis. along: see above. Result: x's sizes. Under
// Errors, which are all sticky and kInvalidArgument, "as usual" means an axis
// there is not, a dtype the function is not defined for.

// Running sums. x: of numbers, or bool. Result: x's dtype, where integers wrap;
// u32 of bool; halves run on in f32. Errors: as usual. Grad: the running sum of
// g in the other direction. Source: Nx cumulative_sum; NumPy cumsum.
Tensor CumulativeSum(const Operand& x, const Along& along = {});

// Running products. x: of numbers, or bool. Result: dtypes as of CumulativeSum.
// Errors: as usual. Grad: exact with zeros. Source: Nx cumulative_product.
Tensor CumulativeProduct(const Operand& x, const Along& along = {});

// The largest so far. x: of reals or bool. Result: x's dtype; NaN wins. Errors:
// as usual; complex. Grad: where the largest stands, half of it to each of two
// that tie. Source: Nx cumulative_max.
Tensor CumulativeMax(const Operand& x, const Along& along = {});

// The smallest so far. x: of reals or bool. Result: x's dtype; NaN wins. Errors:
// as usual; complex. Grad: as of CumulativeMax. Source: Nx cumulative_min.
Tensor CumulativeMin(const Operand& x, const Along& along = {});

// Running values of your own. x: of any dtype. fn: (running value, next element)
// -> running value, all scalars of x's dtype; taken to be associative; small
// host values may be captured, traced tensors not. Result: x's dtype. Errors: as
// usual; fn that gives another shape or dtype. Grad: where fn is smooth and
// elementwise. Source: JAX associative_scan.
Tensor Cumulative(const Operand& x, absl::FunctionRef<Tensor(Tensor, Tensor)> fn,
                  const Along& along = {});

// The same of several tensors at once. xs: of the same sizes, one at least. fn:
// takes a running value of each, then the next element of each, and gives the
// running values. Result: one for each of xs, of its dtype. Errors: as usual;
// sizes that differ; fn that gives others than it takes. Grad: where fn is smooth
// and elementwise, of floats of one dtype. Source: JAX associative_scan.
std::vector<Tensor> Cumulative(
    const std::vector<Tensor>& xs,
    absl::FunctionRef<std::vector<Tensor>(const std::vector<Tensor>& running,
                                          const std::vector<Tensor>& next)>
        fn,
    const Along& along = {}, SourceLocation where = SourceLocation::Current());

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_SCAN_H_
