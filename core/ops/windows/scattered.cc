// Choices of windows: select_and_scatter as a formula.
#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/status.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise_call.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/windows/residues.h"
#include "core/ops/windows/windows.h"

namespace hawser {
namespace {

using Windows = absl::Span<const SlidingWindow>;
using Expressions = std::vector<Expression>;

// Up to so many places of a window are steps one after the other, which round
// as they go, as StableHLO has it. More are a reduction.
constexpr int64_t kFewPlaces = 32;
// Elements of more residues are not written as a table of their places.
constexpr int64_t kFewResidues = 4096;

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

// A tensor, its windows along each axis, and the padding that they slide over.
struct Slid {
  const Expression& x;
  const WindowSpec& spec;

  std::vector<SlidingWindow> windows() const { return spec.Sliding(); }
  Expression PaddedX() const {
    return PaddedFor(spec, x, Filled(x.scope(), Shape::Scalar(x.dtype()), 0));
  }
  // True for elements of the padded tensor that are the tensor's.
  Expression IsThere() const {
    return PaddedFor(spec,
                     Filled(x.scope(), x.shape().WithDType(DType::kBool), 1),
                     Bool(x.scope(), false));
  }
  // True if that place of every window is the tensor's.
  bool IsAlwaysThere(absl::Span<const int64_t> place) const {
    const std::vector<SlidingWindow> windows = this->windows();
    const Dims counts = spec.CountsOn(x.dims());
    for (size_t k = 0; k < windows.size(); ++k) {
      const int64_t a = windows[k].axis;
      const int64_t first = place[k] * windows[k].dilation - spec.low[a];
      const int64_t last = first + (counts[a] - 1) * windows[k].stride;
      if (first < 0 || last >= x.dims()[a]) return false;
    }
    // Windows of one place may lie in the padding of other axes.
    for (size_t a = 0; a < spec.sizes.size(); ++a) {
      const bool slides = spec.sizes[a] != 1 || spec.strides[a] != 1;
      if (!slides && (spec.low[a] > 0 || spec.high[a] > 0)) return false;
    }
    return true;
  }
};

// True if its few places are taken one after the other.
bool HasFewPlaces(const Slid& of) {
  if (PlacesOf(of.windows()) > kFewPlaces) return false;
  int64_t residues = 1;
  for (const SlidingWindow& w : of.windows()) {
    residues *= ResidueCount(w, of.x.dims()[w.axis]);
    if (residues > kFewResidues) return false;
  }
  return true;
}

// Numbers of few places; as wide as values that they are chosen beside.
DType PlaceDType(DType dtype) {
  return ByteWidth(dtype) == 8 ? DType::kS64 : DType::kS32;
}

// The number of the place that each window chooses, of few; below 0: none.
absl::StatusOr<Expression> ChosenOfFew(const Slid& of, int select) {
  ExpressionScope* scope = of.x.scope();
  const std::vector<SlidingWindow> windows = of.windows();
  const Expression padded = of.PaddedX(), is_there = of.IsThere();
  Expression value = AtPlace(padded, windows, PlaceOf(windows, 0)), chosen;
  const Shape shape = value.shape().WithDType(PlaceDType(of.x.dtype()));
  const auto number = [&](int64_t p) {
    return Filled(scope, shape, static_cast<double>(p));
  };
  bool any = false;  // whether every window has chosen
  for (int64_t p = 0; p < PlacesOf(windows); ++p) {
    const Dims place = PlaceOf(windows, p);
    const bool always = of.IsAlwaysThere(place);
    const Expression there = AtPlace(is_there, windows, place);
    if (p == 0) {
      chosen = always ? number(0) : Choose(there, number(0), number(-1));
    } else {
      const Expression next = AtPlace(padded, windows, place);
      HAWSER_ASSIGN_OR_RETURN(Expression first, Called(select, value, next));
      if (!any) {
        first = Apply(kAnd, {first, Compare(chosen, CompareDirection::kGe,
                                            Like(chosen, 0))});
      }
      if (!always) {
        const Expression absent = Apply(kNot, {there});
        first = Apply(kOr, {first, absent});
      }
      value = Choose(first, value, next);
      chosen = Choose(first, chosen, number(p));
    }
    any = any || always;
  }
  return chosen;
}

// The same of many, in any order.
absl::StatusOr<Expression> ChosenOfMany(const Slid& of, int select) {
  ExpressionScope* scope = of.x.scope();
  const std::vector<SlidingWindow> windows = of.windows();
  const Expressions initial = {Filled(scope, Shape::Scalar(of.x.dtype()), 0),
                               Filled(scope, Shape::Scalar(DType::kS64), -1),
                               Bool(scope, false)};
  const Expression laid = Unfolded(of.PaddedX(), windows);
  HAWSER_ASSIGN_OR_RETURN(
      const Expressions chosen,
      ReducedBy(Selecting(select),
                {laid, PlaceNumbers(scope, laid.dims(), windows.size()),
                 Unfolded(of.IsThere(), windows)},
                initial, windows.size()));
  return chosen[1];
}

// The chosen elements' parts of `source`, for each of many places.
absl::StatusOr<Expression> ScatteredByMany(const Slid& of,
                                           const Expression& chosen,
                                           const Expression& source,
                                           const Expression& initial,
                                           int scatter) {
  ExpressionScope* scope = source.scope();
  const std::vector<SlidingWindow> windows = of.windows();
  const Dims dims = of.PaddedX().dims();
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
      ReducedBy(Scattering(scatter),
                {ByElement(Spread(source, all, places), initial, dims, windows),
                 ByElement(is_chosen, Bool(scope, false), dims, windows)},
                {initial, Bool(scope, true)}, windows.size()));
  WindowSpec back = of.spec;
  for (size_t a = 0; a < back.low.size(); ++a) {
    back.low[a] = -back.low[a];
    back.high[a] = -back.high[a];
  }
  return PaddedFor(back, results[0], initial);
}

// ---- few places -------------------------------------------------------------

// The axes of a tensor by residue. Those of several residues are two in
// `split`, of which `spread` has the second ones.
struct Residues {
  std::vector<AxisByResidue> axes;
  Dims split, spread;
  Dims sizes;  // of places along each axis

  Residues(const Dims& dims, const WindowSpec& spec) : sizes(spec.sizes) {
    const Dims counts = spec.CountsOn(dims);
    for (size_t a = 0; a < dims.size(); ++a) {
      const SlidingWindow window{.size = spec.sizes[a],
                                 .stride = spec.strides[a],
                                 .dilation = spec.dilations[a]};
      axes.push_back(ByResidue(window, dims[a], spec.low[a], counts[a]));
      split.push_back(axes.back().groups);
      if (axes.back().residues == 1) continue;
      spread.push_back(static_cast<int64_t>(split.size()));
      split.push_back(axes.back().residues);
    }
  }

  int64_t count() const { return ShiftTuples(axes); }
  std::vector<const WindowShift*> Tuple(int64_t number) const {
    return ShiftTuple(axes, number);
  }
};

// The numbers of the places that elements have in windows so far away, over the
// residues of axes that have several; below -1: none.
Literal PlacesAt(const Residues& by,
                 absl::Span<const WindowShift* const> shifts, DType dtype) {
  Dims dims;
  std::vector<int64_t> numbers = {0};
  for (size_t a = 0; a < shifts.size(); ++a) {
    std::vector<int64_t> next;
    for (const int64_t number : numbers) {
      for (const int64_t place : shifts[a]->places) {
        const bool none = number < 0 || place < 0;
        next.push_back(none ? -2 : number * by.sizes[a] + place);
      }
    }
    numbers = std::move(next);
    if (by.axes[a].residues > 1) dims.push_back(by.axes[a].residues);
  }
  if (dtype == DType::kS64) return Literal::Of<int64_t>(numbers, dims);
  return Literal::Of<int32_t>(
      std::vector<int32_t>(numbers.begin(), numbers.end()), dims);
}

// The chosen elements' parts of `source`, for each of few places.
absl::StatusOr<Expression> ScatteredByFew(const Slid& of,
                                          const Expression& chosen,
                                          const Expression& source,
                                          const Expression& initial,
                                          int scatter) {
  ExpressionScope* scope = source.scope();
  const Dims& dims = of.x.dims();
  const Residues by(dims, of.spec);
  const auto rank = static_cast<int>(by.split.size());
  const Expression none = Filled(scope, Shape::Scalar(chosen.dtype()), -1);
  const Expression places = WithShiftsRoom(by.axes, chosen, none);
  const Expression sources = WithShiftsRoom(by.axes, source, initial);
  Expression running = OfAllSizes(initial, by.split);
  for (int64_t t = 0; t < by.count(); ++t) {
    const std::vector<const WindowShift*> shifts = by.Tuple(t);
    const Expression at =
        ConstantOf(scope, PlacesAt(by, shifts, chosen.dtype()));
    const Expression is_chosen =
        Compare(Spread(AtShifts(by.axes, shifts, places), by.split, by.spread),
                CompareDirection::kEq,
                Spread(at, by.split, OtherAxes(rank, by.spread)));
    HAWSER_ASSIGN_OR_RETURN(const Expression both,
                            Called(scatter, running,
                                   Spread(AtShifts(by.axes, shifts, sources),
                                          by.split, by.spread)));
    running = Choose(is_chosen, both, running);
  }
  return JoinedResidues(by.axes, running, dims);
}

}  // namespace

absl::StatusOr<Expression> SelectAndScatter(const Expression& x,
                                            const Expression& source,
                                            const Expression& initial,
                                            const WindowSpec& spec, int select,
                                            int scatter) {
  const Slid of{x, spec};
  if (of.PaddedX().value() == kNoValue) return of.PaddedX();
  if (source.shape().num_elements() == 0) return OfAllSizes(initial, x.dims());
  const bool few = HasFewPlaces(of);
  HAWSER_ASSIGN_OR_RETURN(
      const Expression chosen,
      few ? ChosenOfFew(of, select) : ChosenOfMany(of, select));
  return few ? ScatteredByFew(of, chosen, source, initial, scatter)
             : ScatteredByMany(of, chosen, source, initial, scatter);
}

}  // namespace hawser
