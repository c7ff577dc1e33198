// Statistics that are made of sums.
#ifndef HAWSER_CLIENT_SDK_OPS_STATISTICS_H_
#define HAWSER_CLIENT_SDK_OPS_STATISTICS_H_

#include <cstdint>

#include "client/sdk/operand.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/tensor.h"

namespace hawser {

// "Over" and "as usual": see reduce.h. Integers and bool become f32; f16 and
// bf16 are computed in f32 and rounded once.

// The mean with weights. x: of numbers. weights: of x's shape, or, of rank 1,
// of the one axis in `over`. Result: Sum(x weights) / Sum(weights). Errors: as
// usual; weights of another shape. Grad: that of its parts. Source: Nx
// weighted_mean.
Tensor WeightedMean(const Operand& x, const Operand& weights,
                    const Over& over = {});

// The square root of Variance. x: of numbers. ddof: as there. Result: floats.
// Errors: as usual. Grad: that of its parts. Source: Nx
// standard_deviation.
Tensor StandardDeviation(const Operand& x, const Over& over = {},
                         int64_t ddof = 0);

// Returns how d variables vary together. x: reals [..., n, d], n observations
// of each. ddof: as in Variance. Result: floats [..., d, d]. Errors: rank below
// 2; complex. Grad: that of its parts. Source: Nx covariance.
Tensor Covariance(const Operand& x, int64_t ddof = 0);

// The same about a given mean. x: reals [..., n, d]. mean: reals that broadcast
// to [..., d]. ddof: as in Variance. Result: floats [..., d, d]. Errors: rank
// below 2; complex; other sizes. Grad: that of its parts. Source: Nx
// covariance.
Tensor Covariance(const Operand& x, const Operand& mean, int64_t ddof = 0);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_OPS_STATISTICS_H_
