// Many elements along axes become one, and what is made of such sums.
#ifndef HAWSER_CLIENT_SDK_OPS_REDUCE_H_
#define HAWSER_CLIENT_SDK_OPS_REDUCE_H_

#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"
#include "core/base/values/shape.h"

namespace hawser {

// One axis, or none; written as a number. true and false are no axes.
class OneAxis {
 public:
  constexpr OneAxis() = default;
  template <typename T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  constexpr OneAxis(T axis)  // NOLINT: .axis = -1
      : axis_(static_cast<int64_t>(axis)) {}
  constexpr operator std::optional<int64_t>() const {  // NOLINT: as it is read
    return axis_;
  }

 private:
  std::optional<int64_t> axis_;
};

// Sum(x, {.axis = -1}), Sum(x, {.axes = {0, 1}, .keep_axes = true}). Axes may
// be negative, from the back; none at all: all axes.
struct Over {
  Dims axes = {};
  OneAxis axis = {};       // instead of `axes`
  bool keep_axes = false;  // the reduced axes stay, with size 1
};

namespace sdk {
// The axes that are named, as they were given. Errors: both kinds.
absl::StatusOr<Dims> AxesOf(const Over& over);
}  // namespace sdk

// x: a tensor of any shape, or a number. over: see above. Result: the axes of x
// that are left. Under Errors, which are all sticky and kInvalidArgument, "as
// usual" means an axis there is not or that is given twice, `axis` beside
// `axes`, a dtype the function is not defined for.

// The sum. x: of numbers, or bool. Result: integers in 32 bits at least, 64
// where x has 64 (bool and unsigned ones unsigned); they wrap; other dtypes
// stay. Errors: as usual. Grad: g, broadcast. Source: Nx sum; StableHLO reduce.
Tensor Sum(const Operand& x, const Over& over = {});

// The product. x: of numbers, or bool. Result: dtypes as of Sum. Errors: as
// usual. Grad: the product of the others, exact with zeros. Source: Nx product.
Tensor Product(const Operand& x, const Over& over = {});

// The largest. x: of reals or bool. Result: x's dtype; NaN wins; of no elements
// the lowest there is. Errors: as usual; complex. Grad: shared by the elements
// that tie. Source: Nx reduce_max.
Tensor ReduceMax(const Operand& x, const Over& over = {});

// The smallest. x: of reals or bool. Result: x's dtype; NaN wins; of no
// elements the highest there is. Errors: as usual; complex. Grad: shared by the
// elements that tie. Source: Nx reduce_min.
Tensor ReduceMin(const Operand& x, const Over& over = {});

// True if no element is zero. x: of any dtype. Result: bool, true of no
// elements. Errors: as usual. Grad: zero. Source: Nx all.
Tensor All(const Operand& x, const Over& over = {});

// True if any element is not zero. x: of any dtype. Result: bool, false of no
// elements. Errors: as usual. Grad: zero. Source: Nx any.
Tensor Any(const Operand& x, const Over& over = {});

// Limits within which all elements agree: |a - b| <= absolute + relative |b|,
// or both are the same infinity.
struct Closeness {
  double absolute = 1e-8;
  double relative = 1e-5;
  bool equal_nan = false;  // NaN agrees with NaN
};
// True if all elements of a and b are close. a, b: operands of numbers. limits:
// see above. Result: a bool scalar. Errors: as usual. Grad: zero. Source: Nx
// all_close; NumPy allclose.
Tensor AllClose(const Operand& a, const Operand& b,
                const Closeness& limits = {});

// A reduction of your own. x: of any dtype. initial: a number or scalar, taken
// to be the neutral element of fn. fn: (running value, element) -> value, all
// scalars of the promoted dtype of x and initial; taken to be associative and
// commutative; small host values may be captured, traced tensors not. Result:
// the promoted dtype. Errors: as usual; fn that gives another shape or dtype.
// Grad: where fn is +, *, Maximum or Minimum of its two. Source: StableHLO
// reduce; Nx reduce.
Tensor Reduce(const Operand& x, const Operand& initial,
              absl::FunctionRef<Tensor(Tensor, Tensor)> fn,
              const Over& over = {});

struct ArgOptions {
  std::optional<int64_t> axis = std::nullopt;  // none: over all, row-major
  bool keep_axis = false;                      // ignored without an axis
  bool last_of_equals = false;
  DType dtype = DType::kS32;  // of the result: an integer's, in which it wraps
};

// Returns where the largest element is. x: of reals or bool. Result: indices,
// of options.dtype; NaN counts as the largest. Errors: as usual; no elements.
// Grad: zero. Source: Nx argmax.
Tensor ArgMax(const Operand& x, const ArgOptions& options = {});

// Returns where the smallest element is. x: of reals or bool. Result: indices,
// of options.dtype; NaN counts as the smallest. Errors: as usual; no elements.
// Grad: zero. Source: Nx argmin.
Tensor ArgMin(const Operand& x, const ArgOptions& options = {});

// ---- statistics: integers and bool become f32; f16 and bf16 are computed in
// f32 and rounded once -------------------------------------------------------

// The mean. x: of numbers. Result: floats; NaN of no elements. Errors: as
// usual. Grad: g / count. Source: Nx mean.
Tensor Mean(const Operand& x, const Over& over = {});

// The mean square of the distance from the mean. x: of numbers. ddof: taken off
// the number of elements that is divided by. Result: floats. Errors: as usual.
// Grad: that of its parts. Source: Nx variance.
Tensor Variance(const Operand& x, const Over& over = {}, int64_t ddof = 0);

// log(sum(exp(x))), shifted by the maximum, so that nothing overflows. x: of
// reals. Result: floats; -inf where all are. Errors: as usual; complex. Grad:
// softmax(x) g. Source: Nx logsumexp.
Tensor LogSumExp(const Operand& x, const Over& over = {});

// log(sum(factor exp(x))), shifted likewise. x, factor: of reals; factor
// broadcasts to x. Result: floats; NaN of a negative sum. Errors: as usual;
// complex. Grad: that of its parts. Source: Nx logsumexp (exp_scaling_factor).
Tensor LogSumExp(const Operand& x, const Over& over, const Operand& factor);

// exp(x) / sum(exp(x)) along an axis, shifted by the maximum. x: of reals, rank
// 1 or more. axis: may be negative. Result: floats of x's shape. Errors: as
// usual; complex. Grad: that of its parts. Source: JAX nn.softmax.
Tensor Softmax(const Operand& x, int64_t axis = -1);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_REDUCE_H_
