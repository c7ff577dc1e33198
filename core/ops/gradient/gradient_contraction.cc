// Gradients of what makes many elements one.
#include <numeric>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/movement/shape.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

// ---- products -------------------------------------------------------------

// The product of all others along the last axis, from a tree of products: as
// exact as a product is, whatever is zero or infinite, and no division. `x`
// has a power of two of at least 2 elements there.
Expression OthersInTree(const Expression& x) {
  std::vector<Expression> levels;  // each [..., half, 2], leaves first
  Dims dims = x.dims();
  const int axis = x.rank();  // of the pairs
  Expression products = x;
  while (true) {
    dims.back() /= 2;
    dims.push_back(2);
    levels.push_back(Reshaped(products, dims));
    dims.pop_back();
    if (dims.back() == 1) break;
    products = Folded(kMultiply, levels.back(), NeutralOf(kMultiply, x.dtype()),
                      {axis});
  }
  Expression others;
  for (size_t level = levels.size(); level-- > 0;) {
    Expression siblings = Apply(kReverse, {levels[level]},
                                {{"dimensions", Dims{axis}}});
    Dims pairs = dims;
    pairs.push_back(2);
    if (others.present()) siblings = siblings * Spread(others, pairs, {axis});
    dims.back() *= 2;
    others = Reshaped(siblings, dims);
  }
  return others;
}

// The product of all others along the last axis, which has `size` elements.
Expression OthersAlongLast(const Expression& x, int64_t size) {
  if (size < 2) return Like(x, 1);
  int64_t power = 2;
  while (power < size) power *= 2;
  const int rank = x.rank();
  Expression padded = x;
  if (power != size) {
    Dims high(rank, 0);
    high.back() = power - size;
    padded = Apply(kPad,
                   {x, Filled(x.scope(), Shape::Scalar(x.dtype()), 1)},
                   {{"edge_padding_low", Dims(rank, 0)},
                    {"edge_padding_high", high},
                    {"interior_padding", Dims(rank, 0)}});
  }
  const Expression others = OthersInTree(padded);
  if (power == size) return others;
  Dims high(rank, 0);
  high.back() = size - power;
  return Apply(kPad, {others, Filled(x.scope(), Shape::Scalar(x.dtype()), 0)},
               {{"edge_padding_low", Dims(rank, 0)},
                {"edge_padding_high", high},
                {"interior_padding", Dims(rank, 0)}});
}

// For each element, the product of the others along `axes`.
Expression ProductOfOthers(const Expression& x,
                           absl::Span<const int64_t> axes) {
  Dims order = OtherAxes(x.rank(), axes);
  Dims flat, moved;
  for (int64_t axis : order) flat.push_back(x.dims()[axis]);
  int64_t size = 1;
  for (int64_t axis : axes) {
    order.push_back(axis);
    size *= x.dims()[axis];
  }
  for (int64_t axis : order) moved.push_back(x.dims()[axis]);
  flat.push_back(size);
  const Expression others =
      OthersAlongLast(Reshaped(Transposed(x, order), flat), size);
  return Transposed(Reshaped(others, moved), InversePermutation(order));
}

// ---- reduce ---------------------------------------------------------------

// Equal shares to the elements that are the result. There may be more of them
// than a half counts.
Expression ShareOfTies(const Expression& x, const Expression& result,
                       const Expression& g, absl::Span<const int64_t> axes) {
  const Expression chosen =
      Compare(x, CompareDirection::kEq, Spread(result, x.dims(), axes));
  const DType sum = SumDType(x.dtype());
  const Expression count = Summed(ConvertTo(chosen, sum), axes);
  const Expression share = ConvertTo(ConvertTo(g, sum) / count, x.dtype());
  return Where(chosen, Spread(share, x.dims(), axes));
}

Expression ReducedBy(const OpDef& monoid, const Expression& x,
                     const Expression& result, const Expression& g,
                     absl::Span<const int64_t> axes) {
  if (&monoid == &kAdd) return Spread(g, x.dims(), axes);
  if (&monoid == &kMultiply) {
    const DType sum = SumDType(x.dtype());
    return ConvertTo(Spread(ConvertTo(g, sum), x.dims(), axes) *
                         ProductOfOthers(ConvertTo(x, sum), axes),
                     x.dtype());
  }
  return ShareOfTies(x, result, g, axes);
}

// ---- dot_general ----------------------------------------------------------

struct AxesOfSide {
  absl::Span<const int64_t> batch, contracting;
  Dims free;
};

AxesOfSide SideOf(const GradientContext& c, bool left) {
  AxesOfSide side{
      c.ints(left ? "lhs_batching_dimensions" : "rhs_batching_dimensions"),
      c.ints(left ? "lhs_contracting_dimensions"
                  : "rhs_contracting_dimensions"),
      {}};
  const int rank = c.operands[left ? 0 : 1].rank();
  for (int axis = 0; axis < rank; ++axis) {
    if (!Contains(side.batch, axis) && !Contains(side.contracting, axis)) {
      side.free.push_back(axis);
    }
  }
  return side;
}

Dims Counting(size_t count, size_t from) {
  Dims out(count);
  std::iota(out.begin(), out.end(), static_cast<int64_t>(from));
  return out;
}

// One side of a product.
struct Contracted {
  Expression operand;
  Dims batch, axes;
};

Expression Product(const Contracted& x, const Contracted& y) {
  return Apply(kDotGeneral, {x.operand, y.operand},
               {{"lhs_batching_dimensions", x.batch},
                {"lhs_contracting_dimensions", x.axes},
                {"rhs_batching_dimensions", y.batch},
                {"rhs_contracting_dimensions", y.axes}});
}

// The cotangent of operand `mine`: g times the other operand in g's dtype,
// contracted over the axes of the result that are the other's. If one of the
// two orders of these has the operand's axes as they are, it is that one.
Expression DotCotangent(const GradientContext& c, int mine) {
  const AxesOfSide side = SideOf(c, mine == 0), other = SideOf(c, mine == 1);
  const size_t batch = side.batch.size();
  const size_t first_other = batch + (mine == 0 ? side.free.size() : 0);
  const Contracted result = {c.g(), Counting(batch, 0),
                             Counting(other.free.size(), first_other)};
  const Contracted others = {
      ConvertTo(c.operands[1 - mine], c.g().dtype()),
      Dims(other.batch.begin(), other.batch.end()), other.free};
  // My axes that are the other's contracting ones as they ascend.
  Dims shared;
  const int other_rank = c.operands[1 - mine].rank();
  for (int axis = 0; axis < other_rank; ++axis) {
    for (size_t i = 0; i < other.contracting.size(); ++i) {
      if (other.contracting[i] == axis) shared.push_back(side.contracting[i]);
    }
  }
  // My axis at each place of the product.
  const auto places = [&](const Dims& first, const Dims& second) {
    Dims axes(side.batch.begin(), side.batch.end());
    axes.insert(axes.end(), first.begin(), first.end());
    axes.insert(axes.end(), second.begin(), second.end());
    return axes;
  };
  const Dims behind = places(side.free, shared);
  const Dims before = places(shared, side.free);
  const Dims in_order = Counting(behind.size(), 0);
  const bool swaps = behind != in_order && before == in_order;
  const Expression product =
      swaps ? Product(others, result) : Product(result, others);
  return ConvertTo(
      Transposed(product, InversePermutation(swaps ? before : behind)),
      c.operands[mine].dtype());
}

}  // namespace

// Sums go back to every element, products as the product of the others; a
// largest or smallest is shared by the elements that tie. Errors:
// kUnimplemented for another computation, and for an initial value, which
// stands for a neutral element and may be taken any number of times.
absl::Status ReduceGradient(GradientContext& c) {
  const auto axes = c.ints("dimensions");
  const int n = static_cast<int>(c.results.size());
  for (int k = 0; k < n; ++k) {
    if (!c.cotangents[k].present()) continue;
    if (c.wanted[n + k]) {
      return Unimplemented("the gradient by initial value ", k);
    }
    // It is asked for anew each time: a rule may add computations.
    const Computation& called =
        c.scope.builder.module()->computation(c.instruction.called[0]);
    const OpDef* monoid = MonoidOf(called, k);
    if (monoid == nullptr) {
      return Unimplemented(
          "the gradient of a reduction by computation \"", called.name(),
          "\", which is neither the sum, the product, the maximum nor the "
          "minimum of its two operands");
    }
    c.Give(k, [&] {
      return ReducedBy(*monoid, c.operands[k], c.results[k], c.cotangents[k],
                       axes);
    });
  }
  return absl::OkStatus();
}

absl::Status DotGeneralGradient(GradientContext& c) {
  for (int i : {0, 1}) c.Give(i, [&] { return DotCotangent(c, i); });
  return absl::OkStatus();
}

}  // namespace hawser
