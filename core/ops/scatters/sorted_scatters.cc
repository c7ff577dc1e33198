#include "core/ops/scatters/sorted_scatters.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/sliced.h"
#include "core/ops/movement/sort.h"
#include "core/ops/rewritten.h"
#include "core/ops/rules.h"
#include "core/ops/scatters/scatter_rows.h"

namespace hawser {
namespace {

using Expressions = std::vector<Expression>;

bool IsLong(const Module& module, const Computation& c, const Instruction& i,
            int64_t vectors, const SkipsScatter& skips) {
  if (i.op != &kScatter || i.operands.size() != 3) return false;
  if (skips != nullptr && skips(c, i)) return false;
  const Shape& input = c.shape(i.operands[0]);
  const Shape& updates = c.shape(i.operands[2]);
  if (VectorsOf(i, c.shape(i.operands[1])) < vectors ||
      updates.num_elements() == 0 || input.num_elements() == 0 ||
      !FoldOf(module.computation(i.called[0]))) {
    return false;
  }
  const auto map = i.attributes.GetInts("scatter_dims_to_operand_dims");
  const Dims sizes = WindowSizes(i, input, updates);
  for (int axis = 0; axis < input.rank(); ++axis) {
    if (sizes[axis] != (Contains(map, axis) ? 1 : input.dim(axis))) {
      return false;
    }
  }
  return true;
}

// The narrowest that holds the numbers up to `last`: a sort goes by its bytes.
DType CountingDType(int64_t last) {
  for (const DType d : {DType::kU8, DType::kU16, DType::kU32}) {
    if (last < int64_t{1} << BitWidth(d)) return d;
  }
  return DType::kS64;
}

Expression ElementsAt(const Expression& list, const Expression& at) {
  return Reshaped(RowsAt(Reshaped(list, {list.dims()[0], 1}), at), at.dims());
}

// For each of `places`, how many entries of an ascending list are at most it.
Expression CountUpTo(const Expression& list, const Expression& places) {
  const int64_t size = list.dims()[0];
  const Expression zero =
      Filled(list.scope(), Shape::Of(DType::kS64, places.dims()), 0);
  Expression count = zero;
  int64_t step = 1;
  while (step <= size / 2) step *= 2;
  for (; step > 0; step /= 2) {
    const Expression more = count + static_cast<double>(step);
    const Expression is_there = Compare(more, CompareDirection::kLe,
                                        Like(more, static_cast<double>(size)));
    // A gather stays inside the list by itself.
    const Expression is_at_most =
        Compare(ElementsAt(list, more - 1.0), CompareDirection::kLe, places);
    count = Choose(Apply(kAnd, {is_there, is_at_most}), more, count);
  }
  return count;
}

// ((bool, running value), (bool, element)) -> an element that is marked as the
// first of its place begins anew.
absl::StatusOr<int> AddSegmentedFold(const OpDef& monoid, DType dtype,
                                     Module* module) {
  ComputationBuilder builder(module, "by place");
  Monoids monoids;
  ExpressionScope scope{builder, monoids};
  Expressions given;
  for (const DType d : {DType::kBool, dtype, DType::kBool, dtype}) {
    given.emplace_back(&scope,
                       builder.Parameter(Shape::Scalar(d), SourceLocation{}));
  }
  const Expression begins = Apply(kOr, {given[0], given[2]});
  const Expression value =
      Choose(given[2], given[3], Apply(monoid, {given[1], given[3]}));
  HAWSER_RETURN_IF_ERROR(builder.status());
  return builder.Finish({begins.value(), value.value()});
}

// Rows in the order of their places, each what those of its place up to it come
// to.
absl::StatusOr<Expression> RunningValues(const Fold& fold,
                                         const Expression& places,
                                         const Expression& rows) {
  if (fold.monoid == nullptr) return rows;
  const int64_t count = rows.dims()[0];
  const Expression is_new =
      Compare(SliceAlong(places, 0, 1, count), CompareDirection::kNe,
              SliceAlong(places, 0, 0, count - 1));
  const Expression begins =
      Apply(kPad, {is_new, ConstantOf(rows.scope(), Literal::Scalar(true))},
            {{"edge_padding_low", Dims{1}},
             {"edge_padding_high", Dims{0}},
             {"interior_padding", Dims{0}}});
  HAWSER_ASSIGN_OR_RETURN(const int computation,
                          AddSegmentedFold(*fold.monoid, rows.dtype(),
                                           rows.scope()->builder.module()));
  const Expression first =
      Apply(kScan, {Spread(begins, rows.dims(), {1}), rows},
            {{"dimension", int64_t{0}}, {"reverse", false}}, {computation});
  return ResultOf(first, 1);
}

absl::StatusOr<Expression> Sorted(const ScatterRows& s, const Fold& fold) {
  const int64_t count = s.num_places();
  const DType key = CountingDType(count);
  const DType number = CountingDType(s.vectors);
  const int less =
      AddComparator(key, /*descending=*/false, {number}, s.module());
  const Expression sorted =
      Apply(kSort,
            {ConvertTo(s.Places(s.Starts()), key),
             Counted(s.scope, s.vectors, number)},
            {{"dimension", int64_t{0}}, {"is_stable", true}}, {less});
  HAWSER_ASSIGN_OR_RETURN(
      const Expression folded,
      RunningValues(fold, sorted, RowsAt(s.Updates(0), ResultOf(sorted, 1))));
  const Expression places = Counted(s.scope, count, key);
  const Expression last = CountUpTo(sorted, places) - 1.0;
  const Expression is_named = Apply(
      kAnd, {Compare(last, CompareDirection::kGe, Like(last, 0)),
             Compare(ElementsAt(sorted, last), CompareDirection::kEq, places)});
  // The input as places and windows, and back.
  const Expression& input = s.inputs[0];
  Dims order = s.map;
  for (const int64_t axis : OtherAxes(input.rank(), s.map)) {
    order.push_back(axis);
  }
  const Expression turned = Transposed(input, order);
  const Dims turned_dims = turned.dims();
  const Expression old = Reshaped(turned, {count, folded.dims()[1]});
  Expression made = RowsAt(folded, last);
  if (fold.monoid != nullptr) made = Apply(*fold.monoid, {old, made});
  return Transposed(
      Reshaped(Choose(Spread(is_named, old.dims(), {1}), made, old),
               turned_dims),
      InversePermutation(order));
}

}  // namespace

bool HasLongScatters(const Module& module, int64_t vectors,
                     const SkipsScatter& skips) {
  if (vectors <= 0) return false;
  return std::any_of(module.computations().begin(), module.computations().end(),
                     [&](const Computation& c) {
                       return std::any_of(
                           c.instructions().begin(), c.instructions().end(),
                           [&](const Instruction& i) {
                             return IsLong(module, c, i, vectors, skips);
                           });
                     });
}

absl::StatusOr<Module> WithSortedScatters(const Module& module, int64_t vectors,
                                          const SkipsScatter& skips) {
  using Others = std::optional<Expressions>;
  return Rewritten(module,
                   [&](const Computation& from, const Instruction& i,
                       const Expressions& operands) -> absl::StatusOr<Others> {
                     if (!IsLong(module, from, i, vectors, skips)) {
                       return std::nullopt;
                     }
                     HAWSER_ASSIGN_OR_RETURN(
                         const Expression result,
                         Sorted(ScatterRows(i, operands),
                                *FoldOf(module.computation(i.called[0]))));
                     return Others(Expressions{result});
                   });
}

}  // namespace hawser
