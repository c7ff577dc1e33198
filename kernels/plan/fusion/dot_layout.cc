#include "kernels/plan/fusion/dot_layout.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/movement/shape.h"
#include "core/ops/rules.h"
#include "core/passes/rewrite/rewriter.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

struct LaidOutSide {
  ValueId value;
  Dims batch;
  Dims contracted;
  // The transpose to apply to `value` first; empty: none.
  Dims transpose = {};
  double seconds = 0;  // of transposes that folding further would spare

  bool IsFree(int64_t axis) const {
    return !Contains(batch, axis) && !Contains(contracted, axis);
  }
};

LaidOutSide SideOf(const Instruction& dot, int side, ValueId value) {
  const Attributes& a = dot.attributes;
  return {value,
          ToDims(a.GetInts(side == 0 ? "lhs_batching_dimensions"
                                     : "rhs_batching_dimensions")),
          ToDims(a.GetInts(side == 0 ? "lhs_contracting_dimensions"
                                     : "rhs_contracting_dimensions"))};
}

Attributes AxesOf(const LaidOutSide& left, const LaidOutSide& right) {
  return {{"lhs_batching_dimensions", left.batch},
          {"lhs_contracting_dimensions", left.contracted},
          {"rhs_batching_dimensions", right.batch},
          {"rhs_contracting_dimensions", right.contracted}};
}

// Returns the attributes of `dot` over the axes of these sides.
Attributes AttributesOf(const Instruction& dot, const LaidOutSide& left,
                        const LaidOutSide& right) {
  Attributes attributes = AxesOf(left, right);
  if (dot.attributes.Has("result_dtype")) {
    attributes.Set("result_dtype", dot.attributes.GetDType("result_dtype"));
  }
  return attributes;
}

// True if a library has the product once its operands are converted, and only
// then.
bool IsToBeWidened(const Instruction& dot, DType from) {
  const DType to = ProductDType(dot.attributes, from);
  return to != from && !LibrariesMultiply(from, to) &&
         LibrariesMultiply(to, to);
}

// Takes one transpose off. False when there is none or it must stay.
bool TakeTranspose(const Rewriter& rewriter, LaidOutSide* side) {
  const Instruction& i = rewriter.producer(side->value);
  // The order of a sum over several axes must not change.
  if (i.op != &kTranspose || side->contracted.size() > 1) return false;
  const auto permutation = i.attributes.GetInts("permutation");
  int64_t last_free = -1;
  for (size_t a = 0; a < permutation.size(); ++a) {
    if (!side->IsFree(static_cast<int64_t>(a))) continue;
    if (permutation[a] < last_free) return false;
    last_free = permutation[a];
  }
  for (Dims* axes : {&side->batch, &side->contracted}) {
    for (int64_t& a : *axes) a = permutation[a];
  }
  side->value = i.operands[0];
  return true;
}

// Returns the cost of a transpose: a launch, every byte read and written.
double TransposeSeconds(const Shape& shape, const Target& target) {
  return target.launch_seconds +
         2.0 * static_cast<double>(shape.byte_size()) / target.bytes_per_second;
}

bool SumIsInside(const LaidOutSide& side, const Shape& shape) {
  return shape.rank() > 0 && Contains(side.contracted, shape.rank() - 1);
}

// The side after a transpose that puts batch, free and summed axes next to each
// other, summed ones innermost or free ones.
LaidOutSide InOrder(const LaidOutSide& side, const Shape& shape,
                    bool sum_is_inside, const Target& target) {
  Dims order = side.batch, free;
  for (int64_t axis = 0; axis < shape.rank(); ++axis) {
    if (side.IsFree(axis)) free.push_back(axis);
  }
  const Dims& middle = sum_is_inside ? free : side.contracted;
  const Dims& inner = sum_is_inside ? side.contracted : free;
  order.insert(order.end(), middle.begin(), middle.end());
  order.insert(order.end(), inner.begin(), inner.end());
  LaidOutSide ordered{
      .value = side.value,
      .transpose = order,
      .seconds = side.seconds + TransposeSeconds(shape, target)};
  const auto place = [&](int64_t axis) {
    return std::find(order.begin(), order.end(), axis) - order.begin();
  };
  for (const int64_t a : side.batch) ordered.batch.push_back(place(a));
  for (const int64_t a : side.contracted) {
    ordered.contracted.push_back(place(a));
  }
  return ordered;
}

// Returns the seconds that a call takes longer than one of fast orders.
double SlownessOf(const ProductCall& call, const Target& target) {
  const bool is_fast = !call.a.column_major && call.b.column_major;
  if (call.a.dtype != DType::kS8 || is_fast || target.slow_byte_products == 0) {
    return 0;
  }
  return 2.0 * static_cast<double>(call.calls.size()) *
         static_cast<double>(call.batch * call.m) *
         static_cast<double>(call.n * call.k) / target.slow_byte_products;
}

Shape Transposed(const Shape& shape, const Dims& permutation) {
  Dims dims;
  for (const int64_t axis : permutation) {
    dims.push_back(shape.dim(static_cast<int>(axis)));
  }
  return Shape::Of(shape.dtype(), dims);
}

absl::StatusOr<ValueId> Place(Rewriter& rewriter, const LaidOutSide& side) {
  if (side.transpose.empty()) return side.value;
  return rewriter.Append(kTranspose, {side.value},
                         {{"permutation", side.transpose}});
}

// Converts a side of `dot` to its result_dtype, before any transposes.
absl::Status Widen(Rewriter& rewriter, const Instruction& dot,
                   LaidOutSide* side) {
  while (TakeTranspose(rewriter, side)) {
  }
  HAWSER_ASSIGN_OR_RETURN(
      side->value,
      rewriter.Append(kConvert, {side->value},
                      {{"dtype", dot.attributes.GetDType("result_dtype")}}));
  return absl::OkStatus();
}

// Ways to read an operand: as far folded as may be, as it stands, in order.
std::vector<LaidOutSide> WaysOf(const Rewriter& rewriter,
                                const LaidOutSide& side, const Target& target) {
  LaidOutSide folded = side;
  double seconds = 0;
  while (TakeTranspose(rewriter, &folded)) {
    seconds += TransposeSeconds(rewriter.shape(folded.value), target);
  }
  std::vector<LaidOutSide> ways = {folded};
  if (!target.strided_products) return ways;
  if (folded.value != side.value) {
    ways.push_back(side);
    ways.back().seconds = seconds;
  }
  // It costs the least that the innermost axis stays there.
  const Shape& shape = rewriter.shape(folded.value);
  const bool sum_is_inside = SumIsInside(folded, shape);
  ways.push_back(InOrder(folded, shape, sum_is_inside, target));
  if (shape.dtype() == DType::kS8 && !sum_is_inside) {
    ways.push_back(InOrder(folded, shape, true, target));
  }
  return ways;
}

class ProductLayout {
 public:
  explicit ProductLayout(const Target& target) : target_(target) {}

  absl::StatusOr<bool> Rewrite(Rewriter& rewriter, const Instruction& i) {
    if (i.op == &kTranspose && target_.strided_products) {
      return TurnAround(rewriter, i);
    }
    return i.op == &kDotGeneral ? LayOut(rewriter, i) : false;
  }

 private:
  // ---- transposed results --------------------------------------------------

  // Readers of each value of the computation at hand.
  int ReadersOf(const Computation& c, ValueId value) {
    if (counted_ != &c) {
      counted_ = &c;
      readers_.assign(c.num_values(), 0);
      for (const Instruction& i : c.instructions()) {
        for (const ValueId v : i.operands) ++readers_[v];
      }
      for (const ValueId v : c.results()) ++readers_[v];
    }
    return readers_[value];
  }

  absl::StatusOr<bool> TurnAround(Rewriter& rewriter, const Instruction& i) {
    const ValueId old = i.operands[0];
    const Instruction& dot = rewriter.producer(rewriter.Mapped(old));
    if (dot.op != &kDotGeneral || ReadersOf(rewriter.from(), old) != 1) {
      return false;
    }
    const LaidOutSide left = SideOf(dot, 0, dot.operands[0]);
    const LaidOutSide right = SideOf(dot, 1, dot.operands[1]);
    const auto batches = static_cast<int64_t>(left.batch.size());
    const int64_t rows = rewriter.shape(left.value).rank() - batches -
                         static_cast<int64_t>(left.contracted.size());
    const int64_t rank = rewriter.shape(rewriter.Mapped(old)).rank();
    const auto permutation = i.attributes.GetInts("permutation");
    for (int64_t a = 0; a < rank; ++a) {
      const int64_t columns = rank - batches - rows;
      const int64_t want = a < batches             ? a
                           : a < batches + columns ? a + rows
                                                   : a - columns;
      if (permutation[a] != want) return false;
    }
    const Ways ways = BestWays(rewriter, dot, right, left);
    const Shape& result = rewriter.shape(rewriter.Mapped(old));
    if (ways.seconds > TransposeSeconds(result, target_)) return false;
    return Append(rewriter, dot, i, ways);
  }

  // ---- operands ------------------------------------------------------------

  // Returns the seconds of one pair of ways; nullopt if there is no call.
  std::optional<double> Seconds(const Rewriter& rewriter,
                                const Instruction& dot, const LaidOutSide& left,
                                const LaidOutSide& right) const {
    const auto shape = [&](const LaidOutSide& side) {
      const Shape& there = rewriter.shape(side.value);
      return side.transpose.empty() ? there : Transposed(there, side.transpose);
    };
    const Instruction laid{.op = &kDotGeneral,
                           .attributes = AttributesOf(dot, left, right)};
    const auto call = CallOfDot(laid, shape(left), shape(right));
    if (!call || !target_.Takes(*call)) return std::nullopt;
    return left.seconds + right.seconds + SlownessOf(*call, target_) +
           static_cast<double>(call->calls.size() - 1) * target_.launch_seconds;
  }

  struct Ways {
    LaidOutSide left, right;
    double seconds;  // infinite: no library computes it, it is read as it lies
  };
  Ways BestWays(const Rewriter& rewriter, const Instruction& dot,
                const LaidOutSide& left, const LaidOutSide& right) const {
    const std::vector<LaidOutSide> lefts = WaysOf(rewriter, left, target_);
    const std::vector<LaidOutSide> rights = WaysOf(rewriter, right, target_);
    Ways best{lefts[0], rights[0], std::numeric_limits<double>::infinity()};
    if (!target_.strided_products) return best;
    for (const LaidOutSide& l : lefts) {
      for (const LaidOutSide& r : rights) {
        if (l.seconds + r.seconds >= best.seconds) continue;
        const auto seconds = Seconds(rewriter, dot, l, r);
        if (seconds && *seconds < best.seconds) best = {l, r, *seconds};
      }
    }
    return best;
  }

  // In place of `i`, a product like `dot`.
  absl::StatusOr<bool> Append(Rewriter& rewriter, const Instruction& dot,
                              const Instruction& i, const Ways& ways) const {
    Attributes attributes = AttributesOf(dot, ways.left, ways.right);
    HAWSER_ASSIGN_OR_RETURN(const ValueId left, Place(rewriter, ways.left));
    HAWSER_ASSIGN_OR_RETURN(const ValueId right, Place(rewriter, ways.right));
    HAWSER_ASSIGN_OR_RETURN(
        const ValueId product,
        rewriter.Append(kDotGeneral, {left, right}, std::move(attributes)));
    rewriter.Replace(i, product);
    return true;
  }

  absl::StatusOr<bool> LayOut(Rewriter& rewriter, const Instruction& i) const {
    LaidOutSide left = SideOf(i, 0, rewriter.Mapped(i.operands[0]));
    LaidOutSide right = SideOf(i, 1, rewriter.Mapped(i.operands[1]));
    Instruction dot{.op = &kDotGeneral, .attributes = i.attributes};
    const bool widens = target_.strided_products &&
                        IsToBeWidened(i, rewriter.shape(left.value).dtype());
    if (widens) {
      HAWSER_RETURN_IF_ERROR(Widen(rewriter, i, &left));
      HAWSER_RETURN_IF_ERROR(Widen(rewriter, i, &right));
      dot.attributes = AxesOf(left, right);
    }
    const Ways ways = BestWays(rewriter, dot, left, right);
    if (!widens && ways.left.value == left.value &&
        ways.right.value == right.value && ways.left.transpose.empty() &&
        ways.right.transpose.empty()) {
      return false;
    }
    return Append(rewriter, dot, i, ways);
  }

  const Target& target_;
  const Computation* counted_ = nullptr;
  std::vector<int> readers_;
};

}  // namespace

bool HasProducts(const Computation& computation) {
  return std::any_of(computation.instructions().begin(),
                     computation.instructions().end(),
                     [](const Instruction& i) {
                       return NodeOf(*i.op).node == NodeClass::kDot;
                     });
}

bool MayLayOut(const Module& module, const Target& target) {
  for (const Computation& c : module.computations()) {
    for (const Instruction& i : c.instructions()) {
      if (i.op != &kDotGeneral) continue;
      if (target.strided_products) return true;
      for (const ValueId v : i.operands) {
        if (c.instructions()[c.producer(v)].op == &kTranspose) return true;
      }
    }
  }
  return false;
}

absl::StatusOr<Module> LayOutProducts(Module module, const Target& target) {
  bool changed = false;
  ProductLayout layout(target);
  return RewriteModule(
      std::move(module),
      [&](Rewriter& rewriter, const Instruction& i) {
        return layout.Rewrite(rewriter, i);
      },
      &changed);
}

}  // namespace hawser::plan
