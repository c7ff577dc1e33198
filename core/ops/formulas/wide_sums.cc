#include "core/ops/formulas/wide_sums.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
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

// A scatter reads and writes all of its inputs in f32, unless these have more
// elements than that, and so many for each of the updates.
constexpr int64_t kManyElements = int64_t{1} << 18;
constexpr int64_t kFewUpdates = 8;

bool Rounds(const OpDef* monoid) {
  return monoid == &kAdd || monoid == &kMultiply;
}

// Elements of one window do not meet.
bool IsWideScatter(const Module& module, const Computation& c,
                   const Instruction& i) {
  return i.op == &kScatter && SumsHalves(module.computation(i.called[0])) &&
         VectorsOf(i, c.shape(i.operands[i.operands.size() / 2])) > 1;
}

// A scatter of halves.
struct WideScatter : ScatterRows {
  // called: the computation in the module it came from.
  WideScatter(const Instruction& instruction, const Computation& called,
              const Expressions& operands)
      : ScatterRows(instruction, operands),
        called(called),
        dtypes(FoldDTypes(called)) {}

  const Computation& called;
  const std::vector<DType> dtypes;
};

// `wide`: the computation over the scatter's dtypes.
Expressions OverAll(const WideScatter& s, int wide) {
  Expressions operands;
  for (size_t k = 0; k < s.n; ++k) {
    operands.push_back(ConvertTo(s.inputs[k], s.dtypes[k]));
  }
  operands.push_back(s.indices);
  for (size_t k = 0; k < s.n; ++k) {
    operands.push_back(ConvertTo(s.updates[k], s.dtypes[k]));
  }
  const Expression first = Apply(kScatter, operands, s.i.attributes, {wide});
  Expressions results;
  for (size_t k = 0; k < s.n; ++k) {
    results.push_back(
        ConvertTo(ResultOf(first, static_cast<int>(k)), s.inputs[k].dtype()));
  }
  return results;
}

// ---- by rows ----------------------------------------------------------------

// True if the windows are rows, far fewer than there are in the inputs.
bool TouchesLittle(const WideScatter& s) {
  const Shape input = s.inputs[0].shape();
  const int64_t touched = s.updates[0].shape().num_elements();
  if (input.num_elements() < kManyElements || touched == 0 ||
      input.num_elements() / kFewUpdates < touched) {
    return false;
  }
  for (int axis = 0, next = 0; axis < input.rank(); ++axis) {
    if (Contains(s.inserted, axis)) continue;
    const int64_t size = s.updates[0].dims()[s.window[next++]];
    if (Contains(s.map, axis) && size != 1) return false;
  }
  return true;
}

// The order of the places, sorted, and, each place being a slot of its own, the
// slots in that order.
struct Slots {
  Expression order, slots;
};
Slots SlotsOf(const WideScatter& s, const Expression& places) {
  const Expression count = Counted(s.scope, s.vectors, DType::kS64);
  const int less = AddComparator(DType::kS64, /*descending=*/false,
                                 {DType::kS64}, s.module());
  const Expression sorted =
      Apply(kSort, {places, count},
            {{"dimension", int64_t{0}}, {"is_stable", true}}, {less});
  const Expression is_new = ConvertTo(
      Compare(SliceAlong(sorted, 0, 1, s.vectors), CompareDirection::kNe,
              SliceAlong(sorted, 0, 0, s.vectors - 1)),
      DType::kS64);
  const Expression zero = Filled(s.scope, Shape::Scalar(DType::kS64), 0);
  const Expression steps = Apply(kPad, {is_new, zero},
                                 {{"edge_padding_low", Dims{1}},
                                  {"edge_padding_high", Dims{0}},
                                  {"interior_padding", Dims{0}}});
  const int add = s.scope->monoids.Find(kAdd, DType::kS64, s.module());
  return {ResultOf(sorted, 1),
          Apply(kScan, {steps}, {{"dimension", int64_t{0}}, {"reverse", false}},
                {add})};
}

// Input k, with its elements at those starts combined with the rows: where
// starts are equal, so are these.
Expression Written(const WideScatter& s, size_t k, const Expression& starts,
                   const Expression& rows) {
  const Expression& input = s.inputs[k];
  if (s.called.results()[k] == static_cast<ValueId>(k)) return input;
  Dims sizes(input.rank(), 1), dims = {s.vectors}, offsets;
  for (int axis = 0, next = 0; axis < input.rank(); ++axis) {
    if (Contains(s.inserted, axis)) continue;
    sizes[axis] = s.updates[k].dims()[s.window[next++]];
    dims.push_back(sizes[axis]);
    offsets.push_back(next);
  }
  Expression made = Reshaped(rows, dims);
  if (const OpDef* op = MonoidOf(s.called, static_cast<int>(k))) {
    const Expression old = Apply(kGather, {input, starts},
                                 {{"collapsed_slice_dims", s.inserted},
                                  {"index_vector_dim", int64_t{1}},
                                  {"offset_dims", offsets},
                                  {"slice_sizes", sizes},
                                  {"start_index_map", s.map}});
    made = Apply(*op, {ConvertTo(old, s.dtypes[k]), made});
  }
  const int second = s.scope->monoids.FindSecond(input.dtype(), s.module());
  return Apply(kScatter, {input, starts, ConvertTo(made, input.dtype())},
               {{"index_vector_dim", int64_t{1}},
                {"inserted_window_dims", s.inserted},
                {"scatter_dims_to_operand_dims", s.map},
                {"update_window_dims", offsets}},
               {second});
}

// Combines the updates of each slot, then that with the elements it has.
Expressions ByRows(const WideScatter& s, int wide) {
  const Expression starts = s.Starts();
  const auto [order, slots] = SlotsOf(s, s.Places(starts));
  Expressions operands, rows;
  for (size_t k = 0; k < s.n; ++k) {
    rows.push_back(RowsAt(ConvertTo(s.Updates(k), s.dtypes[k]), order));
    const OpDef* monoid = MonoidOf(s.called, static_cast<int>(k));
    const Literal neutral = monoid == nullptr ? ScalarOf(s.dtypes[k], 0)
                                              : NeutralOf(*monoid, s.dtypes[k]);
    operands.push_back(
        Spread(ConstantOf(s.scope, neutral), rows[k].dims(), OtherAxes(2, {})));
  }
  operands.push_back(slots);
  operands.insert(operands.end(), rows.begin(), rows.end());
  const Expression first = Apply(kScatter, operands,
                                 {{"index_vector_dim", int64_t{1}},
                                  {"inserted_window_dims", Dims{0}},
                                  {"scatter_dims_to_operand_dims", Dims{0}},
                                  {"update_window_dims", Dims{1}}},
                                 {wide});
  const Expression sorted = RowsAt(starts, order);
  Expressions results;
  for (size_t k = 0; k < s.n; ++k) {
    const Expression folded =
        RowsAt(ResultOf(first, static_cast<int>(k)), slots);
    results.push_back(Written(s, k, sorted, folded));
  }
  return results;
}

absl::StatusOr<Expressions> Widened(const WideScatter& s) {
  HAWSER_ASSIGN_OR_RETURN(const int wide, AddWideFold(s.called, s.module()));
  return TouchesLittle(s) ? ByRows(s, wide) : OverAll(s, wide);
}

}  // namespace

std::vector<DType> FoldDTypes(const Computation& fold) {
  const int n = static_cast<int>(fold.results().size());
  std::vector<DType> own, wide;
  for (int k = 0; k < n; ++k) {
    own.push_back(fold.shape(fold.results()[k]).dtype());
  }
  wide = own;
  for (int k = 0; k < n; ++k) {
    const OpDef* monoid = MonoidOf(fold, k);
    const ValueId result = fold.results()[k];
    if (monoid == nullptr && result != k && result != n + k) return own;
    if (Rounds(monoid)) wide[k] = SumDType(own[k]);
  }
  return wide;
}

bool SumsHalves(const Computation& fold) {
  const std::vector<DType> dtypes = FoldDTypes(fold);
  for (size_t k = 0; k < dtypes.size(); ++k) {
    if (dtypes[k] != fold.shape(fold.results()[k]).dtype()) return true;
  }
  return false;
}

absl::StatusOr<int> AddWideFold(const Computation& fold, Module* module) {
  const std::vector<DType> dtypes = FoldDTypes(fold);
  const int n = static_cast<int>(dtypes.size());
  ComputationBuilder builder(module, std::string(fold.name()));
  for (int k = 0; k < 2 * n; ++k) {
    builder.Parameter(Shape::Scalar(dtypes[k % n]), SourceLocation{});
  }
  std::vector<ValueId> results;
  for (int k = 0; k < n; ++k) {
    const OpDef* monoid = MonoidOf(fold, k);
    results.push_back(monoid == nullptr ? fold.results()[k]
                                        : builder.Add(*monoid, {k, n + k}, {},
                                                      {}, SourceLocation{}));
  }
  return builder.Finish(results);
}

bool ScattersHalves(const Module& module, int last) {
  for (int c = 0; c <= last; ++c) {
    const Computation& computation = module.computation(c);
    const auto instructions = computation.instructions();
    if (std::any_of(instructions.begin(), instructions.end(),
                    [&](const Instruction& i) {
                      return IsWideScatter(module, computation, i);
                    })) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<Module> WithWideScatters(const Module& module,
                                        std::vector<int>* numbers) {
  using Others = std::optional<Expressions>;
  return Rewritten(
      module,
      [&](const Computation& from, const Instruction& i,
          const Expressions& operands) -> absl::StatusOr<Others> {
        if (!IsWideScatter(module, from, i)) return std::nullopt;
        HAWSER_ASSIGN_OR_RETURN(
            Expressions results,
            Widened({i, module.computation(i.called[0]), operands}));
        return Others(std::move(results));
      },
      numbers);
}

}  // namespace hawser
