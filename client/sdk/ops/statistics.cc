#include "client/sdk/ops/statistics.h"

#include <utility>

#include "client/sdk/graph/op_scope.h"
#include "client/sdk/graph/promotion.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/ops/elementwise.h"
#include "client/sdk/ops/math.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;
using sdk::ToAccurate;
using sdk::ToFloating;

// The weights under x's axes: their own, or those of one axis.
absl::StatusOr<Dims> WeightDims(const Tensor& x, const Tensor& weights,
                                const Over& over) {
  if (weights.shape().SameDims(x.shape())) return x.shape().dims();
  HAWSER_ASSIGN_OR_RETURN(const Dims axes, sdk::AxesOf(over));
  if (weights.rank() == 1 && axes.size() == 1) {
    HAWSER_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(axes[0], x.rank()));
    Dims dims(x.rank(), 1);
    dims[axis] = x.dim(axis);
    if (weights.dim(0) == x.dim(axis)) return dims;
  }
  return InvalidArgument("weights have neither the sizes of ",
                         x.shape().ToString(),
                         " nor those of the one axis that is averaged over");
}

}  // namespace

Tensor WeightedMean(const Operand& x, const Operand& weights,
                    const Over& over) {
  const OpScope s("WeightedMean", x.where(), {&x, &weights});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(sdk::CommonDType({&x, &weights}));
  const Tensor value = s.As(x, ToAccurate(dtype));
  const Tensor given = s.As(weights, ToAccurate(dtype));
  const auto dims = WeightDims(value, given, over);
  if (!dims.ok()) return s.Fail(dims.status());
  const auto at = [&](const Tensor& t) { return Operand(t, x.where()); };
  const Tensor spread =
      s.BroadcastTo(s.Reshape(given, *dims), value.shape().dims());
  const Tensor sum = Sum(at(Multiply(at(value), spread)), over);
  return s.Convert(Divide(at(sum), Sum(at(spread), over)), dtype);
}

Tensor StandardDeviation(const Operand& x, const Over& over, int64_t ddof) {
  const OpScope s("StandardDeviation", x.where(), {&x}, {{ddof}});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, ToAccurate(dtype));
  const Tensor variance = Variance(Operand(value, x.where()), over, ddof);
  return s.Convert(Sqrt(Operand(variance, x.where())), dtype);
}

Tensor Covariance(const Operand& x, int64_t ddof) {
  const OpScope s("Covariance", x.where(), {&x}, {{ddof}});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(DTypeOf(x));
  const Tensor value = s.As(x, ToAccurate(dtype));
  if (value.rank() < 2 || IsComplex(dtype)) {
    return s.Fail(InvalidArgument("takes reals of rank 2 or more, [..., n, d]"));
  }
  const auto at = [&](const Tensor& t) { return Operand(t, x.where()); };
  const Tensor mean = Mean(at(value), {.axes = {-2}, .keep_axes = true});
  const Tensor centred = Subtract(at(value), mean);
  const Tensor sums = MatMul(at(Adjoint(at(centred))), centred);
  const int64_t count = value.dim(value.rank() - 2) - ddof;
  return s.Convert(Divide(at(sums), s.ConstantOf(count, value.dtype())),
                   dtype);
}

}  // namespace hawser
