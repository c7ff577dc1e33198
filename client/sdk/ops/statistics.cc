#include "client/sdk/ops/statistics.h"

#include <utility>

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/dot.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::Compose;
using sdk::OpScope;
using sdk::RankOf;
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

absl::Status CheckObservations(const Operand& x) {
  if (RankOf(x) >= 2 && !IsComplex(sdk::DTypeOf(x))) return absl::OkStatus();
  return InvalidArgument("takes reals of rank 2 or more, [..., n, d]");
}

// `centred` is [..., n, d], n observations less their mean; returns their
// covariance.
Tensor SpreadOf(const Tensor& centred, int64_t ddof) {
  return MatMul(Adjoint(centred), centred) / (centred.dim(-2) - ddof);
}

}  // namespace

Tensor WeightedMean(const Operand& x, const Operand& weights,
                    const Over& over) {
  const OpScope s("WeightedMean", {&x, &weights});
  if (!s.ok()) return s.error();
  const DType dtype = ToFloating(sdk::CommonDType({&x, &weights}));
  const Tensor value = s.As(x, ToAccurate(dtype));
  const Tensor given = s.As(weights, ToAccurate(dtype));
  const auto dims = WeightDims(value, given, over);
  if (!dims.ok()) return s.Fail(dims.status());
  const Tensor spread =
      s.BroadcastTo(s.Reshape(given, *dims), value.shape().dims());
  return s.Convert(Sum(value * spread, over) / Sum(spread, over), dtype);
}

Tensor StandardDeviation(const Operand& x, const Over& over, int64_t ddof) {
  const auto formula = [&](const Tensor& x) {
    return Sqrt(Variance(x, over, ddof));
  };
  return Compose("StandardDeviation", x, formula, {{ddof}});
}

Tensor Covariance(const Operand& x, int64_t ddof) {
  const OpScope s("Covariance", {&x}, {{ddof}});
  if (!s.ok()) return s.error();
  if (const auto status = CheckObservations(x); !status.ok()) {
    return s.Fail(status);
  }
  return Compose("Covariance", x, [&](const Tensor& x) {
    return SpreadOf(x - Mean(x, {.axes = {-2}, .keep_axes = true}), ddof);
  });
}

Tensor Covariance(const Operand& x, const Operand& mean, int64_t ddof) {
  const OpScope s("Covariance", {&x, &mean}, {{ddof}});
  if (!s.ok()) return s.error();
  if (const auto status = CheckObservations(x); !status.ok()) {
    return s.Fail(status);
  }
  const DType dtype = ToFloating(sdk::CommonDType({&x, &mean}));
  if (IsComplex(dtype)) return s.Fail(InvalidArgument("takes a mean of reals"));
  const Tensor value = s.As(x, ToAccurate(dtype));
  Dims dims = value.shape().dims();
  dims.erase(dims.end() - 2);
  const Tensor about = s.BroadcastTo(s.As(mean, value.dtype()), dims);
  const OpScope::Formula numbers;
  return s.Convert(SpreadOf(value - ExpandDims(about, -2), ddof), dtype);
}

}  // namespace hawser
