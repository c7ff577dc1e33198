#include "client/sdk/ops/reduce.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/elementwise/math.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser {
namespace {

using sdk::CommonDType;
using sdk::Compose;
using sdk::DTypeOf;
using sdk::OpScope;
using sdk::Region;
using sdk::ToAggregate;

// The axes that go, and what is left.
struct ReducedAxes {
  Dims axes;          // ascending
  Dims kept_dims;     // sizes with 1 for the axes that go
  int64_t count = 1;  // elements that become one
};

absl::StatusOr<ReducedAxes> PlanOf(const Shape& shape, const Over& over) {
  HAWSER_ASSIGN_OR_RETURN(const Dims given, sdk::AxesOf(over));
  ReducedAxes plan;
  for (int64_t axis : given) {
    HAWSER_ASSIGN_OR_RETURN(plan.axes.emplace_back(),
                            NormalizeAxis(axis, shape.rank()));
  }
  if (given.empty()) {
    for (int i = 0; i < shape.rank(); ++i) plan.axes.push_back(i);
  }
  std::sort(plan.axes.begin(), plan.axes.end());
  const auto twice = std::adjacent_find(plan.axes.begin(), plan.axes.end());
  if (twice != plan.axes.end()) {
    return InvalidArgument("axis ", *twice, " is given twice in ",
                           DimsToString(given));
  }
  plan.kept_dims = shape.dims();
  for (int64_t axis : plan.axes) {
    plan.count *= std::exchange(plan.kept_dims[axis], 1);
  }
  return plan;
}

Over Keeping(Over over) {
  over.keep_axes = true;
  return over;
}

// Elements that become one; any number where a reduction refuses `over`.
int64_t CountOf(const Tensor& x, const Over& over) {
  const auto plan = PlanOf(x.shape(), over);
  return plan.ok() ? plan->count : 1;
}

// Reduces `x`, already of the dtype the reduction works in.
Tensor ReduceBy(const OpScope& s, const Tensor& x, const Tensor& initial,
                const Region& region, const Over& over) {
  if (x.dtype() == DType::kInvalid) return x;
  const auto plan = PlanOf(x.shape(), over);
  if (!plan.ok()) return s.Fail(plan.status());
  const Tensor reduced =
      s.Add(kReduce, {x, initial}, {{"dimensions", plan->axes}}, {&region, 1});
  return over.keep_axes ? s.Reshape(reduced, plan->kept_dims) : reduced;
}

// Reduces x by a monoid.
Tensor Fold(const OpScope& s, const Tensor& x, const OpDef& op,
            const Over& over) {
  if (x.dtype() == DType::kInvalid) return x;
  return ReduceBy(s, x, s.Constant(NeutralOf(op, x.dtype())),
                  sdk::Monoid(op, x.dtype()), over);
}

Tensor FoldExtreme(absl::string_view name, const OpDef& op, const Operand& x,
                   const Over& over) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  if (IsComplex(DTypeOf(x))) {
    return s.Fail(InvalidArgument("complex numbers have no order"));
  }
  return Fold(s, s.As(x), op, over);
}

Tensor FoldAggregate(absl::string_view name, const OpDef& op, const Operand& x,
                     const Over& over) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  return Fold(s, s.As(x, ToAggregate(DTypeOf(x))), op, over);
}

Tensor FoldTruth(absl::string_view name, const OpDef& op, const Operand& x,
                 const Over& over) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  return Fold(s, s.Convert(s.As(x), DType::kBool), op, over);
}

Tensor ArgBy(absl::string_view name, const OpDef& op, const Operand& x,
             const ArgOptions& options) {
  const OpScope s(name, {&x});
  if (!s.ok()) return s.error();
  Tensor value = s.As(x);
  int axis = 0;
  if (options.axis.has_value()) {
    const auto normal = NormalizeAxis(*options.axis, value.rank());
    if (!normal.ok()) return s.Fail(normal.status());
    axis = *normal;
  } else {
    value = s.Reshape(value, {value.shape().num_elements()});
  }
  if (!IsInteger(options.dtype)) {
    return s.Fail(
        InvalidArgument("places are integers, not ", DTypeName(options.dtype)));
  }
  // Counted in as many bits as all places need.
  const bool narrow = BitWidth(options.dtype) < 32;
  const Tensor counted =
      s.Add(op, {value},
            {{"dimension", int64_t{axis}},
             {"dtype", narrow ? DType::kS32 : options.dtype},
             {"tie", std::string(options.last_of_equals ? "high" : "low")}});
  const Tensor index = s.Convert(counted, options.dtype);
  if (!options.keep_axis || !options.axis.has_value()) return index;
  Dims dims = value.shape().dims();
  dims[axis] = 1;
  return s.Reshape(index, dims);
}

// Taken for a constant by differentiation.
Tensor Constantly(const Operand& x) {
  const OpScope s("LogSumExp", {&x});
  if (!s.ok()) return s.error();
  return s.Add(kStopGradient, {s.As(x)});
}

// log(sum(scaled(exp(x)))). An infinite maximum must not be subtracted from
// itself. The result does not depend on the shift, so nothing is differentiated
// by it.
Tensor LogOfSum(const Tensor& x, const Over& over,
                absl::FunctionRef<Tensor(const Tensor&)> scaled) {
  const OpScope::Formula numbers;
  const Tensor highest = Constantly(ReduceMax(x, Keeping(over)));
  const Tensor shift = Select(IsFinite(highest), highest, 0);
  const Tensor kept = Log(Sum(scaled(Exp(x - shift)), Keeping(over))) + shift;
  // An error of `over` is in `kept` already.
  return over.keep_axes ? kept
                        : Squeeze(kept, sdk::AxesOf(over).value_or(Dims{}));
}

}  // namespace

absl::StatusOr<Dims> sdk::AxesOf(const Over& over) {
  const std::optional<int64_t> axis = over.axis;
  if (!axis.has_value()) return over.axes;
  if (over.axes.empty()) return Dims{*axis};
  return InvalidArgument("axis ", *axis, " and axes ", DimsToString(over.axes),
                         " are both given");
}

Tensor Sum(const Operand& x, const Over& over) {
  return FoldAggregate("Sum", kAdd, x, over);
}
Tensor Product(const Operand& x, const Over& over) {
  return FoldAggregate("Product", kMultiply, x, over);
}
Tensor ReduceMax(const Operand& x, const Over& over) {
  return FoldExtreme("ReduceMax", kMaximum, x, over);
}
Tensor ReduceMin(const Operand& x, const Over& over) {
  return FoldExtreme("ReduceMin", kMinimum, x, over);
}
Tensor All(const Operand& x, const Over& over) {
  return FoldTruth("All", kAnd, x, over);
}
Tensor Any(const Operand& x, const Over& over) {
  return FoldTruth("Any", kOr, x, over);
}

Tensor AllClose(const Operand& a, const Operand& b, const Closeness& limits) {
  const OpScope s("AllClose", {&a, &b});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::ToAccurate(sdk::ToFloating(CommonDType({&a, &b})));
  const Tensor x = s.As(a, dtype), y = s.As(b, dtype);
  const OpScope::Formula numbers;
  const Tensor size = Abs(y);
  // Equal infinities have no difference, and one is within any multiple of the
  // other's size: only finite distances are compared.
  const Tensor limit = size * limits.relative + limits.absolute;
  const Tensor close = (Abs(x - y) <= limit && IsFinite(size)) || Eq(x, y);
  return All(limits.equal_nan ? close || (IsNan(x) && IsNan(y)) : close);
}
Tensor ArgMax(const Operand& x, const ArgOptions& options) {
  return ArgBy("ArgMax", kArgMax, x, options);
}
Tensor ArgMin(const Operand& x, const ArgOptions& options) {
  return ArgBy("ArgMin", kArgMin, x, options);
}

Tensor Reduce(const Operand& x, const Operand& initial,
              absl::FunctionRef<Tensor(Tensor, Tensor)> fn, const Over& over) {
  const OpScope s("Reduce", {&x, &initial});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::CommonDType({&x, &initial});
  sdk::Trace trace("reduce", sdk::Captures::kNone);
  const Tensor running = trace.Parameter(Shape::Scalar(dtype), s.where());
  const Tensor element = trace.Parameter(Shape::Scalar(dtype), s.where());
  {
    const sdk::Trace::Scope scope(&trace);
    const Tensor result = fn(running, element);
    trace.Return({&result, 1}, s.where());
  }
  auto module = trace.Finish();
  if (!module.ok()) return s.Keep(module.status());
  return ReduceBy(s, s.As(x, dtype), s.As(initial, dtype),
                  sdk::MakeRegion(*std::move(module)), over);
}

Tensor Mean(const Operand& x, const Over& over) {
  return Compose("Mean", x, [&](const Tensor& x) {
    return Sum(x, over) / CountOf(x, over);
  });
}

Tensor Variance(const Operand& x, const Over& over, int64_t ddof) {
  const auto formula = [&](const Tensor& x) {
    const Tensor squares = Square(x - Mean(x, Keeping(over)));
    return Sum(squares, over) / (CountOf(x, over) - ddof);
  };
  return Compose("Variance", x, formula, {{ddof}});
}

Tensor LogSumExp(const Operand& x, const Over& over) {
  return Compose("LogSumExp", x, [&](const Tensor& x) {
    return LogOfSum(x, over, [](const Tensor& powers) { return powers; });
  });
}

Tensor LogSumExp(const Operand& x, const Over& over, const Operand& factor) {
  const OpScope s("LogSumExp", {&x, &factor});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::ToFloating(CommonDType({&x, &factor}));
  const Tensor value = s.As(x, sdk::ToAccurate(dtype));
  const Tensor scale =
      s.BroadcastTo(s.As(factor, value.dtype()), value.shape().dims());
  return s.Convert(
      LogOfSum(value, over,
               [&](const Tensor& powers) { return scale * powers; }),
      dtype);
}

Tensor Softmax(const Operand& x, int64_t axis) {
  return Compose("Softmax", x, [&](const Tensor& x) {
    const Over along{.axis = axis, .keep_axes = true};
    const Tensor powers = Exp(x - ReduceMax(x, along));
    return powers / Sum(powers, along);
  });
}

}  // namespace hawser
