// Many elements along axes become one, and what is made of such sums.
#ifndef HAWSER_CLIENT_SDK_OPS_REDUCE_H_
#define HAWSER_CLIENT_SDK_OPS_REDUCE_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/dtype.h"
#include "core/base/shape.h"

namespace hawser {

// Sum(x, {.axes = {-1}, .keep_axes = true})
struct Over {
  Dims axes = {};          // may be negative, from the back; none: all axes
  bool keep_axes = false;  // the reduced axes stay, with size 1
};

// All: x of any shape. Errors (sticky): an axis there is not or given twice, a
// dtype the function is not defined for. Source: Nx 0.13.1, section 3.6 of the
// inventory.

// Integers are summed in 32 bits at least, in 64 where x has 64; bool counts
// as u8 and gives u32. They wrap. Grad: broadcast back.
Tensor Sum(const Operand& x, const Over& over = {});
// As Sum, of factors. Grad: the product of the others.
Tensor Product(const Operand& x, const Over& over = {});
// Keeps the dtype; NaN wins; of no elements the lowest (highest) of the dtype.
// Grad: shared by the elements that tie.
Tensor ReduceMax(const Operand& x, const Over& over = {});
Tensor ReduceMin(const Operand& x, const Over& over = {});
// bool: whether all (any) are not zero. Grad: zero.
Tensor All(const Operand& x, const Over& over = {});
Tensor Any(const Operand& x, const Over& over = {});

// fn(running value, element) over scalars of one dtype; it is taken to be
// associative and commutative, and `initial` (a number or scalar) to be its
// neutral element. Grad: refused, as in Nx.
Tensor Reduce(const Operand& x, const Operand& initial,
              absl::FunctionRef<Tensor(Tensor, Tensor)> fn,
              const Over& over = {});

// Index of the largest (smallest) element along an axis, or in row-major order
// over all when none is given. NaN wins. Errors: no elements. Grad: zero.
struct ArgOptions {
  std::optional<int64_t> axis = std::nullopt;
  bool keep_axis = false;  // ignored without an axis
  bool last_of_equals = false;
  DType dtype = DType::kS32;  // s32, s64, u32 or u64
};
Tensor ArgMax(const Operand& x, const ArgOptions& options = {});
Tensor ArgMin(const Operand& x, const ArgOptions& options = {});

// ---- composites: integers become f32; f16 and bf16 are computed in f32 and
// rounded once. Grad: through their parts.

Tensor Mean(const Operand& x, const Over& over = {});
// Around the mean, divided by (number of elements - ddof).
Tensor Variance(const Operand& x, const Over& over = {}, int64_t ddof = 0);
// log(sum(exp(x))), shifted by the maximum; all -inf gives -inf.
Tensor LogSumExp(const Operand& x, const Over& over = {});
// exp(x) / sum(exp(x)) along an axis, shifted by the maximum. Source: JAX
// nn.softmax.
Tensor Softmax(const Operand& x, int64_t axis = -1);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_REDUCE_H_
