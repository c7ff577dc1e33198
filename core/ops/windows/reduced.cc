// What windows come to: reduce_window as a formula.
#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/movement/shape.h"
#include "core/ops/windows/windows.h"

namespace hawser {
namespace {

const Computation& CalledIn(const ExpressionScope& scope, int called) {
  return scope.builder.module()->computation(called);
}

// The monoid that it is, if it has a neutral element.
const OpDef* MonoidIn(const ExpressionScope& scope, int called) {
  const Computation& computation = CalledIn(scope, called);
  if (computation.results().size() != 1) return nullptr;
  const OpDef* op = MonoidOf(computation);
  return op != nullptr && op->monoid.neutral != MonoidDef::kNone ? op : nullptr;
}

// Windows of more places are reduced along one axis after the other.
constexpr int64_t kManyPlaces = 16;

bool HasManyPlaces(absl::Span<const SlidingWindow> windows) {
  int64_t places = 1;
  for (const SlidingWindow& w : windows) {
    places = std::min(places, kManyPlaces) * std::min(w.size, kManyPlaces + 1);
  }
  return places > kManyPlaces;
}

// Folds x, between its padding, in each window by a monoid. `exact` says that
// the order of elements makes no difference, not to a gradient either.
Expression ReducedBy(const OpDef& op, bool exact, Expression x,
                     absl::Span<const SlidingWindow> windows, int called) {
  const Expression neutral = ConstantOf(x.scope(), NeutralOf(op, x.dtype()));
  const size_t at_once = exact && HasManyPlaces(windows) ? 1 : windows.size();
  do {
    const auto some = windows.subspan(0, at_once);
    windows.remove_prefix(at_once);
    x = ReducedPlaces({Unfolded(x, some)}, {&neutral, 1},
                      static_cast<int>(some.size()), called)[0];
  } while (!windows.empty());
  return x;
}

// (x, y) -> x, if it is the larger, or smaller, or NaN; else y.
int KeepsTheFirst(const ExpressionScope& scope, DType dtype, bool largest) {
  ComputationBuilder builder(scope.builder.module(), "keeps");
  ExpressionScope own{builder, scope.monoids};
  const Expression x(&own, builder.Parameter(Shape::Scalar(dtype)));
  const Expression y(&own, builder.Parameter(Shape::Scalar(dtype)));
  const CompareDirection direction =
      largest ? CompareDirection::kGt : CompareDirection::kLt;
  const Expression kept = Apply(
      kOr, {Compare(x, direction, y), Compare(x, CompareDirection::kNe, x)});
  return *builder.Finish({kept.value()});
}

// The pull-back of an extreme: (cotangent, x) -> the cotangent of x.
absl::StatusOr<int> ExtremePullBack(const ExpressionScope& scope,
                                    const Shape& result, const Shape& x,
                                    const WindowSpec& spec, bool largest) {
  ComputationBuilder builder(scope.builder.module(), "window_extreme_gradient");
  ExpressionScope own{builder, scope.monoids};
  const Expression g(&own, builder.Parameter(result));
  const Expression of(&own, builder.Parameter(x));
  HAWSER_ASSIGN_OR_RETURN(
      const Expression back,
      WindowScatter(of, g, Filled(&own, Shape::Scalar(x.dtype()), 0), spec,
                    largest));
  return builder.Finish({back.value()});
}

}  // namespace

WindowSpec WindowSpec::Of(absl::Span<const int64_t> sizes) {
  const Dims ones(sizes.size(), 1), zeros(sizes.size(), 0);
  const Dims own(sizes.begin(), sizes.end());
  return {.sizes = own,
          .strides = own,
          .base_dilations = ones,
          .dilations = ones,
          .low = zeros,
          .high = zeros};
}

Dims WindowSpec::CountsOn(const Dims& dims) const {
  Dims counts;
  for (size_t a = 0; a < dims.size(); ++a) {
    const int64_t spread =
        dims[a] == 0 ? 0 : (dims[a] - 1) * base_dilations[a] + 1;
    const SlidingWindow window{
        .size = sizes[a], .stride = strides[a], .dilation = dilations[a]};
    counts.push_back(
        window.CountOn(std::max<int64_t>(low[a] + spread + high[a], 0)));
  }
  return counts;
}

std::vector<SlidingWindow> WindowSpec::Sliding() const {
  std::vector<SlidingWindow> windows;
  for (size_t a = 0; a < sizes.size(); ++a) {
    if (sizes[a] == 1 && strides[a] == 1) continue;
    windows.push_back({.axis = static_cast<int64_t>(a),
                       .size = sizes[a],
                       .stride = strides[a],
                       .dilation = dilations[a]});
  }
  return windows;
}

Expression PaddedFor(const WindowSpec& spec, const Expression& x,
                     const Expression& value) {
  Dims interior = spec.base_dilations;
  for (int64_t& between : interior) between -= 1;
  const Dims none(interior.size(), 0);
  if (spec.low == none && spec.high == none && interior == none) return x;
  return Apply(kPad, {x, value},
               {{"edge_padding_low", spec.low},
                {"edge_padding_high", spec.high},
                {"interior_padding", interior}});
}

std::vector<Expression> ReducedWindows(absl::Span<const Expression> xs,
                                       absl::Span<const Expression> initial,
                                       const WindowSpec& spec, int called) {
  ExpressionScope* scope = xs[0].scope();
  const std::vector<SlidingWindow> windows = spec.Sliding();
  if (const OpDef* op = MonoidIn(*scope, called)) {
    const DType dtype = xs[0].dtype();
    const Expression all =
        ReducedBy(*op, !IsFloat(dtype) && !IsComplex(dtype),
                  PaddedFor(spec, xs[0], initial[0]), windows, called);
    return {Apply(*op, {OfAllSizes(initial[0], all.dims()), all})};
  }
  std::vector<Expression> laid;
  for (size_t k = 0; k < xs.size(); ++k) {
    laid.push_back(Unfolded(PaddedFor(spec, xs[k], initial[k]), windows));
  }
  return ReducedPlaces(std::move(laid), initial,
                       static_cast<int>(windows.size()), called);
}

absl::StatusOr<Expression> WindowScatter(const Expression& x,
                                         const Expression& source,
                                         const Expression& initial,
                                         const WindowSpec& spec, bool largest) {
  const ExpressionScope& scope = *x.scope();
  const int keeps = KeepsTheFirst(scope, x.dtype(), largest);
  // Halves are added up in f32, and rounded once.
  const DType dtype = source.dtype(), wide = SumDType(dtype);
  const int add = scope.monoids.Find(kAdd, wide, scope.builder.module());
  HAWSER_ASSIGN_OR_RETURN(
      const Expression all,
      SelectAndScatter(x, ConvertTo(source, wide), ConvertTo(initial, wide),
                       spec, keeps, add));
  return ConvertTo(all, dtype);
}

absl::StatusOr<Expression> WindowExtreme(const Expression& x,
                                         const WindowSpec& spec, bool largest) {
  const OpDef& op = largest ? kMaximum : kMinimum;
  ExpressionScope* scope = x.scope();
  Module* module = scope->builder.module();
  const int called = scope->monoids.Find(op, x.dtype(), module);
  ComputationBuilder builder(module, "window_extreme");
  ExpressionScope own{builder, scope->monoids};
  const Expression of(&own, builder.Parameter(x.shape()));
  const Expression neutral = ConstantOf(&own, NeutralOf(op, x.dtype()));
  const Expression all = ReducedBy(
      op, /*exact=*/true, PaddedFor(spec, of, neutral), spec.Sliding(), called);
  const Shape result = all.shape();
  HAWSER_ASSIGN_OR_RETURN(const int forward, builder.Finish({all.value()}));
  if (!IsFloat(x.dtype())) return Apply(kCall, {x}, {}, {forward});
  HAWSER_ASSIGN_OR_RETURN(
      const int back,
      ExtremePullBack(*scope, result, x.shape(), spec, largest));
  return Apply(kCall, {x}, {}, {forward, back});
}

}  // namespace hawser
