// Gradients of what moves elements to and from places that are values.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

// ---- index vectors --------------------------------------------------------

// `values` as integers of `dtype`, the nearest that there are.
Literal Saturated(DType dtype, absl::Span<const int64_t> values) {
  Literal out = Literal::Uninitialized(
      Shape::Of(dtype, {static_cast<int64_t>(values.size())}));
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsInteger<T>) {
      using Limits = std::numeric_limits<T>;
      auto to = out.mutable_data<T>();
      for (size_t i = 0; i < values.size(); ++i) {
        to[i] = std::cmp_less(values[i], Limits::min())      ? Limits::min()
                : std::cmp_greater(values[i], Limits::max()) ? Limits::max()
                                                             : values[i];
      }
    }
  });
  return out;
}

// One value for each component of index vectors, like `indices`, which hold
// them along `vector_axis` or, beyond their rank, are them.
Expression PerComponent(const Expression& indices, int64_t vector_axis,
                        absl::Span<const int64_t> values) {
  const Expression vector =
      ConstantOf(indices.scope(), Saturated(indices.dtype(), values));
  const int rank = indices.rank();
  if (vector_axis < rank) {
    return Spread(vector, indices.dims(), OtherAxes(rank, {vector_axis}));
  }
  return Spread(Reshaped(vector, {}), indices.dims(), OtherAxes(rank, {}));
}

Expression Clamped(const Expression& indices, int64_t vector_axis,
                   absl::Span<const int64_t> low,
                   absl::Span<const int64_t> high) {
  return Apply(kClamp, {PerComponent(indices, vector_axis, low), indices,
                        PerComponent(indices, vector_axis, high)});
}

// ---- scatter --------------------------------------------------------------

// The numbers of one input of a scatter.
struct Scatter {
  explicit Scatter(GradientContext& context)
      : c(context),
        n(static_cast<int>(context.results.size())),
        indices(context.operands[n]),
        vector_axis(context.instruction.attributes.GetInt("index_vector_dim")),
        inserted(ToDims(context.ints("inserted_window_dims"))),
        map(ToDims(context.ints("scatter_dims_to_operand_dims"))),
        window(ToDims(context.ints("update_window_dims"))) {
    const Dims updates = context.operands[n + 1].dims();
    size_t next = 0;
    for (int i = 0; i < context.x().rank(); ++i) {
      sizes.push_back(Contains(inserted, i) ? 1 : updates[window[next++]]);
    }
  }

  // `onto` with `updates` written over, or added, where the instruction says.
  Expression Write(const Expression& onto, const Expression& updates,
                   int computation) const {
    return Apply(kScatter, {onto, indices, updates}, c.instruction.attributes,
                 {computation});
  }

  // For each element of the updates, that of `from` on which it falls;
  // `outside` where it is dropped. Around `from` there is room for a whole
  // window, so that the gather moves none that touches it.
  Expression Read(const Expression& from, double outside) const {
    Dims edges(from.rank(), 0), low, high, shift;
    for (int64_t axis : map) {
      edges[axis] = sizes[axis];
      low.push_back(-sizes[axis]);
      high.push_back(from.dims()[axis]);
      shift.push_back(sizes[axis]);
    }
    const Expression value =
        Filled(from.scope(), Shape::Scalar(from.dtype()), outside);
    const Expression framed =
        Apply(kPad, {from, value},
              {{"edge_padding_low", edges},
               {"edge_padding_high", edges},
               {"interior_padding", Dims(from.rank(), 0)}});
    const Expression starts =
        ConvertTo(Clamped(indices, vector_axis, low, high), DType::kS64);
    return Apply(kGather,
                 {framed, starts + PerComponent(starts, vector_axis, shift)},
                 {{"collapsed_slice_dims", inserted},
                  {"index_vector_dim", vector_axis},
                  {"offset_dims", window},
                  {"slice_sizes", sizes},
                  {"start_index_map", map}});
  }

  GradientContext& c;
  const int n;
  const Expression indices;
  const int64_t vector_axis;
  const Dims inserted, map, window;
  Dims sizes;  // of a window, along the axes of the inputs
};

// Sums: all of g to the input and to each update.
void GiveAdded(const Scatter& s, int k) {
  const Expression& g = s.c.cotangents[k];
  s.c.Give(k, [&] { return g; });
  s.c.Give(s.n + 1 + k, [&] { return s.Read(g, 0); });
}

// The last update written to a place has its g, the input that of places
// where none was.
void GiveWritten(const Scatter& s, int k) {
  const Expression& g = s.c.cotangents[k];
  ExpressionScope* scope = &s.c.scope;
  Module* module = scope->builder.module();
  s.c.Give(k, [&] {
    const int second = scope->monoids.FindSecond(g.dtype(), module);
    return s.Write(g, Like(s.c.operands[s.n + 1 + k], 0), second);
  });
  s.c.Give(s.n + 1 + k, [&] {
    const int second = scope->monoids.FindSecond(DType::kS64, module);
    const Shape updates =
        s.c.operands[s.n + 1 + k].shape().WithDType(DType::kS64);
    const Expression flat(
        scope, scope->builder.Add(kIota, {},
                                  {{"dims", Dims{updates.num_elements()}},
                                   {"dtype", DType::kS64},
                                   {"iota_dimension", int64_t{0}}},
                                  {}, SourceLocation{}));
    const Expression number = Reshaped(flat, updates.dims());
    const Expression none = Filled(scope, g.shape().WithDType(DType::kS64), -1);
    const Expression last = s.Read(s.Write(none, number, second), -1);
    return Where(Compare(number, CompareDirection::kEq, last), s.Read(g, 0));
  });
}

// Largest or smallest: equal shares to the input and the updates that are it.
void GiveExtreme(const Scatter& s, int k) {
  const Expression& g = s.c.cotangents[k];
  const Expression& result = s.c.results[k];
  const Expression& input = s.c.operands[k];
  const Expression& updates = s.c.operands[s.n + 1 + k];
  ExpressionScope* scope = &s.c.scope;
  const Expression inside =
      s.Read(Filled(scope, result.shape().WithDType(DType::kBool), 1), 0);
  const Expression taken = Compare(input, CompareDirection::kEq, result);
  const Expression given = Apply(
      kAnd,
      {inside, Compare(updates, CompareDirection::kEq, s.Read(result, 0))});
  const DType sum = SumDType(g.dtype());
  const int add = scope->monoids.Find(kAdd, sum, scope->builder.module());
  const Expression ties =
      s.Write(ConvertTo(taken, sum), ConvertTo(given, sum), add);
  const Expression share = ConvertTo(ConvertTo(g, sum) / ties, g.dtype());
  s.c.Give(k, [&] { return Where(taken, share); });
  s.c.Give(s.n + 1 + k, [&] { return Where(given, s.Read(share, 0)); });
}

// Products: the input has g times its updates. Not those: it would take the
// product of all others at a place.
absl::Status GiveMultiplied(const Scatter& s, int k) {
  if (s.c.wanted[s.n + 1 + k]) {
    return Unimplemented("the gradient by updates that are multiplied");
  }
  const Expression& g = s.c.cotangents[k];
  const int multiply =
      s.c.scope.monoids.Find(kMultiply, g.dtype(), s.c.scope.builder.module());
  s.c.Give(k, [&] {
    return g * s.Write(Like(g, 1), s.c.operands[s.n + 1 + k], multiply);
  });
  return absl::OkStatus();
}

absl::Status GiveByComputation(const Scatter& s, int k) {
  const Computation& called =
      s.c.scope.builder.module()->computation(s.c.instruction.called[0]);
  const ValueId result = called.results()[k];
  if (result == k) {  // every element stays
    s.c.Give(k, [&] { return s.c.cotangents[k]; });
    return absl::OkStatus();
  }
  const OpDef* monoid = MonoidOf(called, k);
  if (result == s.n + k) {
    GiveWritten(s, k);
  } else if (monoid == &kAdd) {
    GiveAdded(s, k);
  } else if (monoid == &kMaximum || monoid == &kMinimum) {
    GiveExtreme(s, k);
  } else if (monoid == &kMultiply) {
    return GiveMultiplied(s, k);
  } else {
    return Unimplemented("the gradient of a scatter by computation \"",
                         called.name(),
                         "\", which neither keeps, replaces, adds, multiplies "
                         "nor takes the maximum or minimum");
  }
  return absl::OkStatus();
}

}  // namespace

// Each element is added where it came from. A gather moves starts so that the
// slice fits and a scatter drops what does not: the starts are moved first.
absl::Status GatherGradient(GradientContext& c) {
  const auto map = c.ints("start_index_map");
  const auto sizes = c.ints("slice_sizes");
  const int64_t vector_axis =
      c.instruction.attributes.GetInt("index_vector_dim");
  c.Give(0, [&] {
    Dims high;
    for (int64_t axis : map) high.push_back(c.x().dims()[axis] - sizes[axis]);
    const int add =
        c.scope.monoids.Find(kAdd, c.x().dtype(), c.scope.builder.module());
    return Apply(
        kScatter,
        {Like(c.x(), 0),
         Clamped(c.y(), vector_axis, Dims(high.size(), 0), high), c.g()},
        {{"index_vector_dim", vector_axis},
         {"inserted_window_dims", ToDims(c.ints("collapsed_slice_dims"))},
         {"scatter_dims_to_operand_dims", ToDims(map)},
         {"update_window_dims", ToDims(c.ints("offset_dims"))}},
        {add});
  });
  return absl::OkStatus();
}

// Each input by what the computation does to it, all by the same indices.
// Errors: kUnimplemented naming the computation.
absl::Status ScatterGradient(GradientContext& c) {
  const Scatter s(c);
  for (int k = 0; k < s.n; ++k) {
    if (!c.cotangents[k].present()) continue;
    HAWSER_RETURN_IF_ERROR(GiveByComputation(s, k));
  }
  return absl::OkStatus();
}

}  // namespace hawser
