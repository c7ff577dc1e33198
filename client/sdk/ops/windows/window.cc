#include "client/sdk/ops/windows/window.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_join.h"
#include "client/sdk/graph/build/apply.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/ops/windows/lists.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/windows/unfold.h"
#include "core/ops/windows/windows.h"

namespace hawser {
namespace {

using sdk::CommonDType;
using sdk::DTypeOf;
using sdk::Guarded;
using sdk::OnePerAxis;
using sdk::OpScope;
using Expressions = absl::Span<const Expression>;

absl::StatusOr<WindowSpec> SpecOf(const Tensor& x, const Dims& window,
                                  const WindowOptions& options) {
  const auto rank = static_cast<size_t>(x.rank());
  WindowSpec spec = WindowSpec::Of(window);
  if (window.size() != rank) {
    return InvalidArgument("window: ", window.size(), " sizes for ", rank,
                           " axes");
  }
  HAWSER_ASSIGN_OR_RETURN(spec.sizes, OnePerAxis("window", window, rank));
  HAWSER_ASSIGN_OR_RETURN(spec.strides,
                          OnePerAxis("strides", options.strides, rank));
  HAWSER_ASSIGN_OR_RETURN(spec.dilations,
                          OnePerAxis("dilations", options.dilations, rank));
  if (!options.padding.empty() && options.padding.size() != rank) {
    return InvalidArgument("padding: ", options.padding.size(), " of them for ",
                           rank, " axes");
  }
  HAWSER_RETURN_IF_ERROR(sdk::PadWindows(options.padding, options.same_size,
                                         spec.sizes, spec.dilations, &spec.low,
                                         &spec.high));
  return spec;
}

Tensor ByMonoid(absl::string_view name, const OpDef& op, const Operand& x,
                const Dims& window, const WindowOptions& options) {
  const OpScope s(name, {&x}, {window, options.strides, options.dilations});
  if (!s.ok()) return s.error();
  const DType dtype = DTypeOf(x);
  const Tensor value =
      s.As(x, dtype == DType::kBool ? sdk::ToAggregate(dtype) : dtype);
  if (value.dtype() == DType::kInvalid) return value;
  const auto spec = SpecOf(value, window, options);
  if (!spec.ok()) return s.Fail(spec.status());
  return sdk::Apply(name, s, {&value, 1}, [&](Expressions on) {
    ExpressionScope* scope = on[0].scope();
    const Expression neutral = ConstantOf(scope, NeutralOf(op, on[0].dtype()));
    const int called =
        scope->monoids.Find(op, on[0].dtype(), scope->builder.module());
    const std::vector<SlidingWindow> sliding = spec->Sliding();
    return ReducedPlaces({Unfolded(PaddedFor(*spec, on[0], neutral), sliding)},
                         {&neutral, 1}, static_cast<int>(sliding.size()),
                         called)[0];
  });
}

Tensor Extreme(absl::string_view name, bool largest, const Operand& x,
               const Dims& window, const WindowOptions& options) {
  const OpScope s(name, {&x}, {window, options.strides, options.dilations});
  if (!s.ok()) return s.error();
  if (IsComplex(DTypeOf(x))) {
    return s.Fail(InvalidArgument("complex numbers have no order"));
  }
  const Tensor value = s.As(x);
  if (value.dtype() == DType::kInvalid) return value;
  const auto spec = SpecOf(value, window, options);
  if (!spec.ok()) return s.Fail(spec.status());
  Guarded formula;
  return formula.Or(s, sdk::Apply(name, s, {&value, 1}, [&](Expressions on) {
                      return formula.Keep(WindowExtreme(on[0], *spec, largest),
                                          on[0]);
                    }));
}

Tensor Scatter(absl::string_view name, bool largest, const Operand& x,
               const Operand& source, const Operand& initial,
               const Dims& window, const WindowOptions& options) {
  const OpScope s(name, {&x, &source, &initial},
                  {window, options.strides, options.dilations});
  if (!s.ok()) return s.error();
  const DType dtype = CommonDType({&x, &source, &initial});
  if (IsComplex(dtype)) {
    return s.Fail(InvalidArgument("complex numbers have no order"));
  }
  const Tensor values[] = {s.As(x, dtype), s.As(source, dtype),
                           s.As(initial, dtype)};
  for (const Tensor& value : values) {
    if (value.dtype() == DType::kInvalid) return value;
  }
  const auto spec = SpecOf(values[0], window, options);
  if (!spec.ok()) return s.Fail(spec.status());
  if (values[2].rank() != 0) {
    return s.Fail(InvalidArgument("the initial value is ",
                                  values[2].shape().ToString(),
                                  ", must be a scalar"));
  }
  const Dims counts = spec->CountsOn(values[0].shape().dims());
  if (values[1].shape().dims() != counts) {
    return s.Fail(InvalidArgument(
        "the source is ", values[1].shape().ToString(), ", but there are [",
        absl::StrJoin(counts, ","), "] windows"));
  }
  Guarded formula;
  return formula.Or(s, sdk::Apply(name, s, values, [&](Expressions on) {
                      return formula.Keep(
                          WindowScatter(on[0], on[1], on[2], *spec, largest),
                          on[0]);
                    }));
}

}  // namespace

Tensor WindowSum(const Operand& x, const Dims& window,
                 const WindowOptions& options) {
  return ByMonoid("WindowSum", kAdd, x, window, options);
}
Tensor WindowProduct(const Operand& x, const Dims& window,
                     const WindowOptions& options) {
  return ByMonoid("WindowProduct", kMultiply, x, window, options);
}
Tensor WindowMean(const Operand& x, const Dims& window,
                  const WindowOptions& options) {
  return sdk::Compose("WindowMean", x,
                      [&](const Tensor& value) {
                        double places = 1;
                        for (const int64_t size : window)
                          places *= static_cast<double>(size);
                        return WindowSum(value, window, options) / places;
                      },
                      {window, options.strides, options.dilations});
}
Tensor WindowMax(const Operand& x, const Dims& window,
                 const WindowOptions& options) {
  return Extreme("WindowMax", true, x, window, options);
}
Tensor WindowMin(const Operand& x, const Dims& window,
                 const WindowOptions& options) {
  return Extreme("WindowMin", false, x, window, options);
}
Tensor WindowScatterMax(const Operand& x, const Operand& source,
                        const Operand& initial, const Dims& window,
                        const WindowOptions& options) {
  return Scatter("WindowScatterMax", true, x, source, initial, window, options);
}
Tensor WindowScatterMin(const Operand& x, const Operand& source,
                        const Operand& initial, const Dims& window,
                        const WindowOptions& options) {
  return Scatter("WindowScatterMin", false, x, source, initial, window,
                 options);
}

Tensor WindowReduce(const Operand& x, const Operand& initial,
                    const Dims& window,
                    absl::FunctionRef<Tensor(Tensor, Tensor)> fn,
                    const WindowOptions& options) {
  const OpScope s("WindowReduce", {&x, &initial},
                  {window, options.strides, options.dilations});
  if (!s.ok()) return s.error();
  const DType dtype = CommonDType({&x, &initial});
  const Tensor value = s.As(x, dtype), start = s.As(initial, dtype);
  for (const Tensor& given : {value, start}) {
    if (given.dtype() == DType::kInvalid) return given;
  }
  const auto spec = SpecOf(value, window, options);
  if (!spec.ok()) return s.Fail(spec.status());
  sdk::Trace trace("window_reduce", sdk::Captures::kNone);
  {
    const Tensor running = trace.Parameter(Shape::Scalar(dtype), s.where());
    const Tensor next = trace.Parameter(Shape::Scalar(dtype), s.where());
    const sdk::Trace::Scope scope(&trace);
    trace.Return({fn(running, next)}, s.where());
  }
  auto module = trace.Finish();
  if (!module.ok()) return s.Keep(module.status());
  const sdk::Region region = sdk::MakeRegion(*std::move(module));
  const std::vector<SlidingWindow> sliding = spec->Sliding();
  const Tensor on[] = {value, start};
  const Tensor laid = sdk::Apply("WindowReduce", s, on, [&](Expressions of) {
    return PlacesInFront(Unfolded(PaddedFor(*spec, of[0], of[1]), sliding),
                         static_cast<int>(sliding.size()));
  });
  if (laid.dtype() == DType::kInvalid) return laid;
  Dims axes(sliding.size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return s.Add(kReduce, {laid, start}, {{"dimensions", axes}}, {&region, 1});
}

Tensor Unfold(const Operand& x, int64_t axis, int64_t size,
              const UnfoldOptions& options) {
  const int64_t numbers[] = {axis, size, options.stride, options.dilation};
  const OpScope s("Unfold", {&x}, {numbers});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  if (value.dtype() == DType::kInvalid) return value;
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  return s.Add(kUnfold, {value},
               {{"dimensions", Dims{*along}},
                {"window_dimensions", Dims{size}},
                {"window_strides", Dims{options.stride}},
                {"window_dilations", Dims{options.dilation}}});
}

}  // namespace hawser
