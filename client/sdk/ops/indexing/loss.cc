#include "client/sdk/ops/indexing/loss.h"

#include <limits>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/indexing/position.h"
#include "client/sdk/ops/reduce.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;

absl::Status CheckClasses(const Tensor& logits, const Tensor& labels) {
  if (IsComplex(logits.dtype())) {
    return InvalidArgument("logits must be real");
  }
  if (logits.rank() == 0 || logits.shape().dims().back() == 0) {
    return InvalidArgument("logits need a last axis of classes, not ",
                           logits.shape().ToString());
  }
  if (!IsInteger(labels.dtype())) {
    return InvalidArgument("labels are integers, not ",
                           DTypeName(labels.dtype()));
  }
  Dims examples = logits.shape().dims();
  examples.pop_back();
  if (labels.shape().dims() == examples) return absl::OkStatus();
  return InvalidArgument("labels are ", labels.shape().ToString(),
                         ", must have the sizes ", DimsToString(examples),
                         " of the examples");
}

}  // namespace

Tensor CrossEntropy(const Operand& logits, const Operand& labels) {
  const OpScope s("CrossEntropy", {&logits, &labels});
  if (!s.ok()) return s.error();
  const Tensor given = s.As(logits), known = s.As(labels);
  for (const Tensor* operand : {&given, &known}) {
    if (operand->dtype() == DType::kInvalid) return *operand;
  }
  const absl::Status fits = CheckClasses(given, known);
  if (!fits.ok()) return s.Fail(fits);
  const DType dtype = sdk::ToFloating(given.dtype());
  const Tensor x = s.Convert(given, sdk::ToAccurate(dtype));
  const int64_t classes = x.shape().dims().back();
  const Tensor label = sdk::AsIndices(s, known, DType::kS64);
  const OpScope::Formula numbers;
  // Nothing depends on the shift, so nothing is differentiated by it.
  const Over along{.axis = -1, .keep_axes = true};
  const Tensor highest = s.Add(kStopGradient, {ReduceMax(x, along)});
  const Tensor shifted = x - Select(IsFinite(highest), highest, 0);
  const Tensor is_class = label >= 0 && label < classes;
  const Tensor at = ExpandDims(Select(is_class, label, int64_t{0}), -1);
  const Tensor loss = Log(Sum(Exp(shifted), {.axis = -1})) -
                      Squeeze(TakeAlongAxis(shifted, at, -1), {-1});
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Tensor one = s.ConstantOf(1, x.dtype());
  return s.Convert(loss * Select(is_class, one, s.ConstantOf(none, x.dtype())),
                   dtype);
}

}  // namespace hawser
