// What windows choose: select_and_scatter as a formula.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/status.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise_call.h"
#include "core/ops/movement/shape.h"
#include "core/ops/windows/windows.h"

namespace hawser {
namespace {

using Windows = absl::Span<const SlidingWindow>;
using Expressions = std::vector<Expression>;

// Up to so many places of a window are steps one after the other, which round
// as they go, as StableHLO has it. More are a reduction.
constexpr int64_t kFewPlaces = 32;

int64_t PlacesOf(Windows windows) {
  int64_t places = 1;
  for (const SlidingWindow& w : windows) {
    places = w.size > kFewPlaces ? kFewPlaces + 1 : places * w.size;
    if (places > kFewPlaces) return places;
  }
  return places;
}

// Place `number` of few, which are counted in row-major order.
Dims PlaceOf(Windows windows, int64_t number) {
  Dims place(windows.size());
  for (size_t k = windows.size(); k > 0; --k) {
    place[k - 1] = number % windows[k - 1].size;
    number /= windows[k - 1].size;
  }
  return place;
}

Expression OfAllSizes(const Expression& scalar, const Dims& dims) {
  return Spread(scalar, dims, OtherAxes(static_cast<int>(dims.size()), {}));
}
Expression Bool(ExpressionScope* scope, bool value) {
  return Filled(scope, Shape::Scalar(DType::kBool), value ? 1 : 0);
}

absl::StatusOr<Expression> Called(int called, const Expression& x,
                                  const Expression& y) {
  // It is copied since the module may move its computations.
  const Computation body = x.scope()->builder.module()->computation(called);
  HAWSER_ASSIGN_OR_RETURN(const Expressions results,
                          AppliedToEach(body, {x, y}));
  return results.front();
}

// A step of a fold: running values, then as many next ones, become the running
// values.
using Step = std::function<absl::StatusOr<Expressions>(const Expressions&)>;

// (value, place, is there): the running one, unless only the next is there or
// `select` prefers it.
Step Selecting(int select) {
  return [select](const Expressions& v) -> absl::StatusOr<Expressions> {
    HAWSER_ASSIGN_OR_RETURN(const Expression kept, Called(select, v[0], v[3]));
    const Expression first =
        Apply(kAnd, {v[2], Apply(kOr, {kept, Apply(kNot, {v[5]})})});
    return Expressions{Choose(first, v[0], v[3]), Choose(first, v[1], v[4]),
                       Apply(kOr, {v[2], v[5]})};
  };
}

// (value, is there): combined with the next one, where that is there.
Step Scattering(int scatter) {
  return [scatter](const Expressions& v) -> absl::StatusOr<Expressions> {
    HAWSER_ASSIGN_OR_RETURN(const Expression both, Called(scatter, v[0], v[2]));
    return Expressions{Choose(v[1], Choose(v[3], both, v[0]), v[2]),
                       Apply(kOr, {v[1], v[3]})};
  };
}

// The step as a computation of scalars, of a reduction of xs.
absl::StatusOr<int> ComputationOf(const Step& step, const Expressions& xs) {
  const ExpressionScope& around = *xs[0].scope();
  ComputationBuilder builder(around.builder.module(), "step");
  ExpressionScope scope{builder, around.monoids};
  Expressions parameters;
  for (size_t k = 0; k < 2 * xs.size(); ++k) {
    const DType dtype = xs[k % xs.size()].dtype();
    parameters.push_back(
        Expression(&scope, builder.Parameter(Shape::Scalar(dtype))));
  }
  HAWSER_ASSIGN_OR_RETURN(const Expressions results, step(parameters));
  std::vector<ValueId> values;
  for (const Expression& x : results) values.push_back(x.value());
  return builder.Finish(values);
}

absl::StatusOr<Expressions> ReducedBy(const Step& step, Expressions xs,
                                      const Expressions& initial,
                                      size_t windows) {
  HAWSER_ASSIGN_OR_RETURN(const int called, ComputationOf(step, xs));
  return ReducedPlaces(std::move(xs), initial, static_cast<int>(windows),
                       called);
}

// The numbers of places of an unfolded tensor of these sizes, row-major.
Expression PlaceNumbers(ExpressionScope* scope, const Dims& dims,
                        size_t windows) {
  const Dims sizes(dims.end() - static_cast<int64_t>(windows), dims.end());
  Dims others;
  int64_t places = 1;
  for (const int64_t size : sizes) places *= size;
  for (size_t i = 0; i + windows < dims.size(); ++i) {
    others.push_back(static_cast<int64_t>(i));
  }
  const Expression numbers(scope,
                           scope->builder.Add(kIota, {},
                                              {{"dims", Dims{places}},
                                               {"dtype", DType::kS64},
                                               {"iota_dimension", int64_t{0}}},
                                              {}, SourceLocation{}));
  return Spread(Reshaped(numbers, sizes), dims, others);
}

// A tensor between its padding, and whether an element of that is the tensor's.
struct Framed {
  Expression x, is_there;
};

// The number of the place that each window chooses; below 0: none.
absl::StatusOr<Expression> ChosenPlaces(const Framed& of, Windows windows,
                                        int select) {
  ExpressionScope* scope = of.x.scope();
  const Step step = Selecting(select);
  const Expressions initial = {Filled(scope, Shape::Scalar(of.x.dtype()), 0),
                               Filled(scope, Shape::Scalar(DType::kS64), -1),
                               Bool(scope, false)};
  if (PlacesOf(windows) > kFewPlaces) {
    const Expression laid = Unfolded(of.x, windows);
    HAWSER_ASSIGN_OR_RETURN(
        const Expressions chosen,
        ReducedBy(step,
                  {laid, PlaceNumbers(scope, laid.dims(), windows.size()),
                   Unfolded(of.is_there, windows)},
                  initial, windows.size()));
    return chosen[1];
  }
  Expressions running;
  for (int64_t p = 0; p < PlacesOf(windows); ++p) {
    const Dims place = PlaceOf(windows, p);
    const Expression x = AtPlace(of.x, windows, place);
    const Expressions next = {
        x,
        Filled(scope, x.shape().WithDType(DType::kS64), static_cast<double>(p)),
        AtPlace(of.is_there, windows, place)};
    if (running.empty()) {
      running = {next[0], Choose(next[2], next[1], Like(next[1], -1)), next[2]};
      continue;
    }
    Expressions all = running;
    all.insert(all.end(), next.begin(), next.end());
    HAWSER_ASSIGN_OR_RETURN(running, step(all));
  }
  return running[1];
}

// What the chosen elements of a tensor of sizes `dims` get of `source`.
absl::StatusOr<Expression> ScatteredTo(const Dims& dims,
                                       const Expression& chosen,
                                       const Expression& source,
                                       const Expression& initial,
                                       Windows windows, int scatter) {
  ExpressionScope* scope = source.scope();
  const Step step = Scattering(scatter);
  const Expression none = Bool(scope, false);
  if (PlacesOf(windows) > kFewPlaces) {
    Dims all = source.dims(), places;
    for (const SlidingWindow& w : windows) {
      places.push_back(static_cast<int64_t>(all.size()));
      all.push_back(w.size);
    }
    const Expression is_chosen =
        Compare(Spread(chosen, all, places), CompareDirection::kEq,
                PlaceNumbers(scope, all, windows.size()));
    HAWSER_ASSIGN_OR_RETURN(
        const Expressions results,
        ReducedBy(
            step,
            {ByElement(Spread(source, all, places), initial, dims, windows),
             ByElement(is_chosen, none, dims, windows)},
            {initial, Bool(scope, true)}, windows.size()));
    return results[0];
  }
  Expressions running = {OfAllSizes(initial, dims),
                         OfAllSizes(Bool(scope, true), dims)};
  // Earlier windows have an element at later places.
  for (int64_t p = PlacesOf(windows) - 1; p >= 0; --p) {
    const Dims place = PlaceOf(windows, p);
    const Expression is_chosen = Compare(chosen, CompareDirection::kEq,
                                         Like(chosen, static_cast<double>(p)));
    HAWSER_ASSIGN_OR_RETURN(
        running, step({running[0], running[1],
                       FromPlace(source, initial, dims, windows, place),
                       FromPlace(is_chosen, none, dims, windows, place)}));
  }
  return running[0];
}

}  // namespace

absl::StatusOr<Expression> SelectAndScatter(const Expression& x,
                                            const Expression& source,
                                            const Expression& initial,
                                            const WindowSpec& spec, int select,
                                            int scatter) {
  ExpressionScope* scope = x.scope();
  const std::vector<SlidingWindow> windows = spec.Sliding();
  const Expression zero = Filled(scope, Shape::Scalar(x.dtype()), 0);
  const Framed framed{
      PaddedFor(spec, x, zero),
      PaddedFor(spec, Filled(scope, x.shape().WithDType(DType::kBool), 1),
                Bool(scope, false))};
  if (framed.x.value() == kNoValue) return framed.x;
  HAWSER_ASSIGN_OR_RETURN(const Expression chosen,
                          ChosenPlaces(framed, windows, select));
  HAWSER_ASSIGN_OR_RETURN(
      const Expression all,
      ScatteredTo(framed.x.dims(), chosen, source, initial, windows, scatter));
  WindowSpec back = spec;
  for (size_t a = 0; a < back.low.size(); ++a) {
    back.low[a] = -back.low[a];
    back.high[a] = -back.high[a];
  }
  return PaddedFor(back, all, initial);
}

}  // namespace hawser
