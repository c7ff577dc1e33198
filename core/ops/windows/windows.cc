#include "core/ops/windows/windows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"
#include "core/ops/windows/residues.h"
#include "core/ops/windows/unfold.h"

namespace hawser {
namespace {

Expression Padded(const Expression& x, const Expression& value, Dims low,
                  Dims high, Dims interior) {
  return Apply(kPad, {x, value},
               {{"edge_padding_low", std::move(low)},
                {"edge_padding_high", std::move(high)},
                {"interior_padding", std::move(interior)}});
}

// Moves axis `from` so that it is axis `to` of the result.
Expression WithAxisMoved(const Expression& x, int64_t from, int64_t to) {
  Dims order(x.rank());
  std::iota(order.begin(), order.end(), int64_t{0});
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return Transposed(x, order);
}

// ByElement along one axis; axis `place` of g numbers places. Elements of an
// axis of J = n + (size - 1) dilation places, each with its size values, lie in
// one row; those that meet in an element lie size * dilation - 1 apart in it.
Expression ByElementOf(Expression g, const Expression& nothing, int64_t n,
                       const SlidingWindow& w, int64_t place) {
  const int64_t count = g.dims()[w.axis];
  const int64_t before = (w.size - 1) * w.dilation;
  Dims low(g.rank(), 0), high = low, interior = low;
  low[w.axis] = before;
  high[w.axis] = n - 1 - (count - 1) * w.stride;
  interior[w.axis] = w.stride - 1;
  g = Padded(g, nothing, low, high, interior);
  if (w.size == 1) return g;
  g = WithAxisMoved(g, place, w.axis + 1);
  Dims row = g.dims();
  row.erase(row.begin() + w.axis + 1);
  row[w.axis] *= w.size;
  g = Reshaped(g, row);
  g = SliceAlong(g, w.axis, w.size - 1, g.dims()[w.axis] - (w.size - 1));
  const SlidingWindow meeting{.axis = w.axis,
                              .size = w.size,
                              .stride = w.size,
                              .dilation = w.dilation * w.size - 1};
  g = Unfolded(g, {&meeting, 1});
  return WithAxisMoved(g, g.rank() - 1, place);
}

}  // namespace

int64_t SlidingWindow::CountOn(int64_t elements) const {
  if (elements == 0 || size - 1 > (elements - 1) / dilation) return 0;
  return (elements - 1 - (size - 1) * dilation) / stride + 1;
}

std::vector<SlidingWindow> SlidingWindowsOf(const Attributes& attributes) {
  const auto axes = attributes.GetInts("dimensions");
  const auto sizes = attributes.GetInts("window_dimensions");
  const auto strides = attributes.GetInts("window_strides");
  const auto dilations = attributes.GetInts("window_dilations");
  std::vector<SlidingWindow> windows;
  for (size_t k = 0; k < axes.size(); ++k) {
    windows.push_back({.axis = axes[k],
                       .size = sizes[k],
                       .stride = strides[k],
                       .dilation = dilations[k]});
  }
  return windows;
}

Expression Unfolded(const Expression& x,
                    absl::Span<const SlidingWindow> windows) {
  Dims axes, sizes, strides, dilations;
  for (const SlidingWindow& w : windows) {
    axes.push_back(w.axis);
    sizes.push_back(w.size);
    strides.push_back(w.stride);
    dilations.push_back(w.dilation);
  }
  return Apply(kUnfold, {x},
               {{"dimensions", axes},
                {"window_dimensions", sizes},
                {"window_strides", strides},
                {"window_dilations", dilations}});
}

Expression ByElement(const Expression& g, const Expression& nothing,
                     const Dims& dims,
                     absl::Span<const SlidingWindow> windows) {
  if (g.value() == kNoValue) return g;
  if (g.shape().num_elements() == 0) {
    Dims all = dims;
    for (const SlidingWindow& w : windows) all.push_back(w.size);
    return Spread(nothing, all, OtherAxes(static_cast<int>(all.size()), {}));
  }
  Expression listed = g;
  for (size_t k = 0; k < windows.size(); ++k) {
    listed = ByElementOf(listed, nothing, dims[windows[k].axis], windows[k],
                         static_cast<int64_t>(dims.size() + k));
  }
  return listed;
}

Expression AtPlace(const Expression& x, absl::Span<const SlidingWindow> windows,
                   absl::Span<const int64_t> place) {
  Dims start(x.rank(), 0), limit = x.dims(), strides(x.rank(), 1);
  for (size_t k = 0; k < windows.size(); ++k) {
    const SlidingWindow& w = windows[k];
    const int64_t count = w.CountOn(limit[w.axis]);
    start[w.axis] = count == 0 ? 0 : place[k] * w.dilation;
    limit[w.axis] = count == 0 ? 0 : start[w.axis] + (count - 1) * w.stride + 1;
    strides[w.axis] = w.stride;
  }
  return Apply(kSlice, {x},
               {{"start_indices", start},
                {"limit_indices", limit},
                {"strides", strides}});
}

Expression PlacesInFront(const Expression& x, int windows) {
  Dims order(x.rank());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::rotate(order.begin(), order.end() - windows, order.end());
  return Transposed(x, order);
}

std::vector<Expression> ReducedPlaces(std::vector<Expression> xs,
                                      absl::Span<const Expression> initial,
                                      int windows, int called) {
  const size_t n = xs.size();
  for (Expression& x : xs) x = PlacesInFront(x, windows);
  xs.insert(xs.end(), initial.begin(), initial.end());
  Dims axes(windows);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  std::vector<Expression> results = {
      Apply(kReduce, xs, {{"dimensions", axes}}, {called})};
  while (results.size() < n) {
    results.push_back(ResultOf(results[0], static_cast<int>(results.size())));
  }
  return results;
}

namespace {

// Windows of an element whose cotangents are added one after the other.
constexpr int64_t kFewSums = 36;

// The axes by residue if elements are in few windows and these stride: where
// they do not, no number is divided anyway. Empty: they are not.
std::vector<AxisByResidue> FewSums(const Dims& counts, const Dims& dims,
                                   absl::Span<const SlidingWindow> windows) {
  std::vector<SlidingWindow> of_axis(dims.size());
  bool strides = false;
  for (const SlidingWindow& w : windows) {
    strides = strides || w.stride > 1;
    if (w.size > kFewSums || ResidueCount(w, dims[w.axis]) > kFewSums) {
      return {};
    }
    of_axis[w.axis] = w;
  }
  std::vector<AxisByResidue> axes;
  for (size_t a = 0; a < dims.size(); ++a) {
    axes.push_back(ByResidue(of_axis[a], dims[a], 0, counts[a]));
  }
  const int64_t sums = ShiftTuples(axes);
  if (!strides || sums == 0 || sums > kFewSums) axes.clear();
  return axes;
}

// The places of windows so far away that each residue has: axis `place` of g,
// between zeros, from there on.
Expression AtPlaces(const Expression& g, const Expression& zero, int64_t place,
                    const SlidingWindow& w, int64_t residues, int64_t shift) {
  const int64_t first = -shift * w.stride;
  WindowSpec around = WindowSpec::Of(Dims(g.rank(), 1));
  around.base_dilations[place] = w.dilation;
  around.low[place] = -first;
  around.high[place] = first + residues - ((w.size - 1) * w.dilation + 1);
  return PaddedFor(around, g, zero);
}

Expression SummedByResidue(const Expression& g, const Expression& zero,
                           const Dims& dims,
                           absl::Span<const SlidingWindow> windows,
                           absl::Span<const AxisByResidue> axes) {
  const auto rank = static_cast<int64_t>(dims.size());
  // Groups, then the residues of each axis behind them.
  Dims order;
  for (int64_t a = 0; a < rank; ++a) {
    order.push_back(a);
    for (size_t k = 0; k < windows.size(); ++k) {
      if (windows[k].axis == a) order.push_back(rank + static_cast<int64_t>(k));
    }
  }
  const Expression room = WithShiftsRoom(axes, g, zero);
  Expression sum;
  for (int64_t t = 0; t < ShiftTuples(axes); ++t) {
    const auto shifts = ShiftTuple(axes, t);
    Expression term = AtShifts(axes, shifts, room);
    for (size_t k = 0; k < windows.size(); ++k) {
      const int64_t a = windows[k].axis;
      term = AtPlaces(term, zero, rank + static_cast<int64_t>(k), windows[k],
                      axes[a].residues, shifts[a]->shift);
    }
    term = Transposed(term, order);
    sum = t == 0 ? term : sum + term;
  }
  return JoinedResidues(axes, sum, dims);
}

}  // namespace

Expression SummedWindows(const Expression& g, const Dims& dims,
                         absl::Span<const SlidingWindow> windows) {
  if (g.value() != kNoValue && g.shape().num_elements() > 0) {
    Dims counts = g.dims();
    counts.resize(dims.size());
    const auto axes = FewSums(counts, dims, windows);
    if (!axes.empty()) {
      const DType dtype = g.dtype(), wide = SumDType(dtype);
      const Expression none = Filled(g.scope(), Shape::Scalar(wide), 0);
      return ConvertTo(
          SummedByResidue(ConvertTo(g, wide), none, dims, windows, axes),
          dtype);
    }
  }
  const Expression zero = Filled(g.scope(), Shape::Scalar(g.dtype()), 0);
  const int add =
      g.scope()->monoids.Find(kAdd, g.dtype(), g.scope()->builder.module());
  return ReducedPlaces({ByElement(g, zero, dims, windows)}, {&zero, 1},
                       static_cast<int>(windows.size()), add)[0];
}

Expression OfAllSizes(const Expression& scalar, const Dims& dims) {
  return Spread(scalar, dims, OtherAxes(static_cast<int>(dims.size()), {}));
}

}  // namespace hawser
