// Sorting, and what is found by it: order_statistics.cc has what stands where.
#ifndef HAWSER_CLIENT_SDK_OPS_SORTING_SORT_H_
#define HAWSER_CLIENT_SDK_OPS_SORTING_SORT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "client/sdk/operand.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/tensor.h"
#include "core/base/values/dtype.h"

namespace hawser {

// Sort(x, {.axis = -1, .descending = true}). The axis may be negative, from the
// back. Equals always keep their order.
struct SortOptions {
  int64_t axis = 0;
  bool descending = false;
};

// x: a tensor of at least one axis, of reals or bool unless said otherwise. The
// order is that of numbers: -0 equals 0, NaN is the largest, false is below
// true. Under Errors, which are all sticky and kInvalidArgument, "as usual"
// means an axis there is not; complex numbers.

// x in order along an axis. Result: x's shape. Errors: as usual. Grad: g, put
// back where its elements came from. Source: Nx sort; StableHLO sort.
Tensor Sort(const Operand& x, const SortOptions& options = {});

// Returns the index in x of each element of Sort(x). dtype: of the result, an
// integer's. Result: x's sizes. Errors: as usual; a dtype that cannot count the
// axis. Grad: zero. Source: Nx argsort.
Tensor ArgSort(const Operand& x, const SortOptions& options = {},
               DType dtype = DType::kS32);

// Several tensors in the order of a comparison of yours. xs: of any dtypes and
// the same sizes, one at least. less: takes an element of each on the left,
// then of each on the right, all scalars, and gives whether the left ones come
// first, bool[]; small host values may be captured, traced tensors not.
// options: the axis; descending turns `less` around. Result: one for each of
// xs, all moved alike. Errors: as usual, but that complex numbers are taken;
// sizes that differ; `less` that gives something else. Grad: g, put back.
// Source: StableHLO sort.
std::vector<Tensor> SortBy(
    const std::vector<Tensor>& xs,
    absl::FunctionRef<Tensor(const std::vector<Tensor>& left,
                             const std::vector<Tensor>& right)>
        less,
    const SortOptions& options = {},
    SourceLocation where = SourceLocation::Current());

// The k largest of the last axis, the largest first, and where they are; of
// equals the first. k: 0 up to the axis's size. Result: x's sizes with k for
// the last; indices of s32. Errors: as usual; k outside; more elements than s32
// counts. Grad: of the values, put back. Source: Nx top_k; CHLO top_k.
std::pair<Tensor, Tensor> TopK(const Operand& x, int64_t k);

// The middle element of an axis in order, or the mean of the two in the middle.
// over: one axis, or none: all elements. Result: x's dtype of an odd count,
// floats of an even one; NaN where an element is, as NumPy has it. Errors: as
// usual; several axes; no elements. Grad: to the middle. Source: Nx median.
Tensor Median(const Operand& x, const Over& over = {});

// The most frequent element of an axis; of several the smallest. over: as in
// Median. Result: x's dtype. Errors: as usual; several axes; no elements. Grad:
// to one such element. Source: Nx mode.
Tensor Mode(const Operand& x, const Over& over = {});

// Returns the number that this share of an axis's elements does not exceed,
// between two of them in proportion. share: a number or scalar from 0 to 1,
// clamped. over: as in Median. Result: floats; NaN where an element is, or
// between two infinities of other signs. Errors: as usual; several axes; no
// elements. Grad: to those two. Source: NumPy quantile (linear).
Tensor Quantile(const Operand& x, const Operand& share, const Over& over = {});

// Returns how many elements of a sorted x are below each of `values`, that is,
// where that value would be inserted; with `right`, how many are at most it, so
// that it comes after its equals. x: of rank 1, ascending. values: of any
// shape; the dtypes promote. Result: s32 of values' sizes. Errors: as usual;
// another rank. Grad: zero. Source: NumPy searchsorted.
Tensor SearchSorted(const Operand& x, const Operand& values,
                    bool right = false);

// The results of Unique. The number of different elements is known only when it
// runs, so `values`, `first` and `counts` have the size that was asked for: if
// there are fewer, the last one is repeated with a count of 0; if there are
// more, the rest is left out. `values` is ascending, and Take(x, first) of a
// flat x.
struct UniqueElements {
  Tensor values;   // x's dtype [size]
  Tensor first;    // s32[size]: where in x, row by row, each stands first
  Tensor counts;   // s32[size]: how many equal it
  Tensor inverse;  // s32, x's sizes: which of the values an element equals
  Tensor count;    // s32[]: how many there are, with those left out
};

// The elements of x without repeats, in order; NaN equals NaN. size: 0 or more.
// Result: see above. Errors: as usual; no elements; more than s32 counts; a
// negative size. Grad: of `values`, to the first of its equals. Source: NumPy
// unique; JAX's with a size.
UniqueElements Unique(const Operand& x, int64_t size);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_SORTING_SORT_H_
