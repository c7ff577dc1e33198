// Small graphs of each kind of region, for tests of its kernels.
#ifndef HAWSER_TESTS_KERNELS_GPU_EMIT_SAMPLE_GRAPHS_H_
#define HAWSER_TESTS_KERNELS_GPU_EMIT_SAMPLE_GRAPHS_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/values/shape.h"
#include "core/ir/module.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"

namespace hawser::gpu {

using Values = std::vector<Expression>;

// Parameters of `dims`, all of one dtype, and what is computed of them.
struct SampleGraph {
  std::vector<Dims> dims;
  std::function<Values(const Values&)> body;
};

// Optimized and verified.
Module Build(const SampleGraph& graph, DType dtype);
// Parameters of any dtypes.
Module Build(const std::vector<Shape>& parameters,
             const std::function<Values(const Values&)>& body);
// One fusion made by hand, not optimized: also what no planner puts together.
Module Fused(const SampleGraph& graph, DType dtype);
// Updates folded into the input at the indices: a scatter of these attributes.
Module Scattered(const Shape& input, const Shape& indices, const Shape& updates,
                 const Attributes& numbers, const OpDef& fold = kAdd);
// One of rows, whose threads meet.
Module ScatteredRows(DType dtype, const OpDef& fold);

Expression MaxOf(const Expression& x, const Dims& axes);
// Over the last axis.
Expression Softmax(const Expression& x);
// Of x with the weights of one row; the mean and the scale leave too.
Values LayerNorm(const Values& p);
// Sum, maximum and its place, of each row.
Values SumAndLargest(const Values& p);
// Sums of squares and maxima along axis 0.
Values ColumnSums(const Values& p);
// Columns that are divided by their sums.
Values ColumnShares(const Values& p);
// Along `axes`, of the first power on.
Values Sums(const Expression& x, int count, const Dims& axes);
Values FullSum(const Values& p);
// Two results of two values, element by element.
Values Chain(const Values& p);
// dynamic_slice of the first value, from the others on.
Expression FromOn(const Values& p, const Dims& sizes);
// One axis, with -1 around and between.
Expression Padded(const Expression& x, int64_t low, int64_t high,
                  int64_t interior);
// A padded value and its square, one behind the other.
Values Edges(const Values& p);
// The first matrix transposed, with one that is not.
Values Turned(const Values& p);
// A product with bias and relu.
Values Product(const Values& p);

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_EMIT_SAMPLE_GRAPHS_H_
