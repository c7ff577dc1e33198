#include "core/ops/formulas/wide_sums.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

using Expressions = std::vector<Expression>;

// A scatter reads and writes all of its inputs in f32, unless these have more
// elements than that, and so many for each of the updates.
constexpr int64_t kManyElements = int64_t{1} << 18;
constexpr int64_t kFewUpdates = 8;
// An index that no axis has, nor one with a window behind it.
constexpr double kFarOutside = 0x1p62;

bool Rounds(const OpDef* monoid) {
  return monoid == &kAdd || monoid == &kMultiply;
}

int64_t VectorsOf(const Instruction& i, const Shape& indices) {
  const int64_t axis = i.attributes.GetInt("index_vector_dim");
  int64_t vectors = 1;
  for (int k = 0; k < indices.rank(); ++k) {
    if (k != axis) vectors *= indices.dim(k);
  }
  return vectors;
}

// Elements of one window do not meet.
bool IsWideScatter(const Module& module, const Computation& c,
                   const Instruction& i) {
  return i.op == &kScatter && SumsHalves(module.computation(i.called[0])) &&
         VectorsOf(i, c.shape(i.operands[i.operands.size() / 2])) > 1;
}

// A scatter of halves whose computation is there already.
class WideScatter {
 public:
  // called: the computation in the module it came from.
  WideScatter(const Instruction& instruction, const Computation& called,
              Expressions operands)
      : i_(instruction),
        called_(called),
        n_(operands.size() / 2),
        inputs_(operands.begin(), operands.begin() + n_),
        indices_(operands[n_]),
        updates_(operands.begin() + n_ + 1, operands.end()),
        scope_(indices_.scope()),
        dtypes_(FoldDTypes(called)),
        map_(ListOf("scatter_dims_to_operand_dims")),
        inserted_(ListOf("inserted_window_dims")),
        window_(ListOf("update_window_dims")) {}

  absl::StatusOr<Expressions> Run() {
    HAWSER_ASSIGN_OR_RETURN(wide_,
                            AddWideFold(called_, scope_->builder.module()));
    return TouchesLittle() ? ByRows() : OverAll();
  }

 private:
  Dims ListOf(absl::string_view name) const {
    const auto list = i_.attributes.GetInts(name);
    return Dims(list.begin(), list.end());
  }
  int add() const {
    return scope_->monoids.Find(kAdd, DType::kS64, scope_->builder.module());
  }

  Expressions OverAll() const {
    Expressions operands;
    for (size_t k = 0; k < n_; ++k) {
      operands.push_back(ConvertTo(inputs_[k], dtypes_[k]));
    }
    operands.push_back(indices_);
    for (size_t k = 0; k < n_; ++k) {
      operands.push_back(ConvertTo(updates_[k], dtypes_[k]));
    }
    const Expression first = Apply(kScatter, operands, i_.attributes, {wide_});
    Expressions results;
    for (size_t k = 0; k < n_; ++k) {
      results.push_back(ConvertTo(ResultOf(first, static_cast<int>(k)),
                                  inputs_[k].dtype()));
    }
    return results;
  }

  // Whether the windows are rows, far fewer than there are in the inputs.
  bool TouchesLittle() const {
    const Shape input = inputs_[0].shape();
    if (input.num_elements() < kManyElements ||
        input.num_elements() / kFewUpdates <
            updates_[0].shape().num_elements()) {
      return false;
    }
    for (int axis = 0, next = 0; axis < input.rank(); ++axis) {
      if (Contains(inserted_, axis)) continue;
      const int64_t size = updates_[0].dims()[window_[next++]];
      if (Contains(map_, axis) && size != 1) return false;
    }
    return updates_[0].shape().num_elements() > 0;
  }

  // Index vectors as rows, s64.
  Expression Starts() const {
    Expression indices = indices_;
    if (indices.dtype() == DType::kU64) {
      indices = Apply(kMinimum, {indices, Like(indices, kFarOutside)});
    }
    indices = ConvertTo(indices, DType::kS64);
    const int64_t axis = i_.attributes.GetInt("index_vector_dim");
    if (axis < indices.rank()) {
      Dims order = OtherAxes(indices.rank(), {axis});
      order.push_back(axis);
      indices = Transposed(indices, order);
    }
    const int64_t components = static_cast<int64_t>(map_.size());
    return Reshaped(indices, {VectorsOf(i_, indices_.shape()), components});
  }

  // Of each of those rows the place that it names, one number; those outside
  // name one behind all.
  Expression PlacesOf(const Expression& starts) const {
    const int64_t rows = starts.dims()[0];
    Expression place, inside;
    int64_t places = 1;
    for (size_t k = 0; k < map_.size(); ++k) {
      const int64_t at = static_cast<int64_t>(k);
      const Expression component = Reshaped(
          Apply(kSlice, {starts},
                {{"start_indices", Dims{0, at}},
                 {"limit_indices", Dims{rows, at + 1}},
                 {"strides", Dims{1, 1}}}),
          {rows});
      const int64_t size = inputs_[0].dims()[map_[k]];
      const Expression is_in = Apply(
          kAnd, {Compare(component, CompareDirection::kGe, Like(component, 0)),
                 Compare(component, CompareDirection::kLt,
                         Like(component, static_cast<double>(size)))});
      inside = k == 0 ? is_in : Apply(kAnd, {inside, is_in});
      place = k == 0 ? component
                     : static_cast<double>(size) * place + component;
      places *= size;
    }
    return Choose(inside, place, Like(place, static_cast<double>(places)));
  }

  // Sorts the places, each of which then is a slot of its own, and gives the
  // order and the slots.
  std::pair<Expression, Expression> SlotsOf(const Expression& places) const {
    const int64_t rows = places.dims()[0];
    const Expression count(
        scope_, scope_->builder.Add(kIota, {},
                                    {{"dims", Dims{rows}},
                                     {"dtype", DType::kS64},
                                     {"iota_dimension", int64_t{0}}},
                                    {}, SourceLocation{}));
    const int less = AddComparator(DType::kS64, /*descending=*/false,
                                   {DType::kS64}, scope_->builder.module());
    const Expression sorted =
        Apply(kSort, {places, count},
              {{"dimension", int64_t{0}}, {"is_stable", true}}, {less});
    const auto part = [&](int64_t begin, int64_t end) {
      return Apply(kSlice, {sorted},
                   {{"start_indices", Dims{begin}},
                    {"limit_indices", Dims{end}},
                    {"strides", Dims{1}}});
    };
    const Expression is_new = ConvertTo(
        Compare(part(1, rows), CompareDirection::kNe, part(0, rows - 1)),
        DType::kS64);
    const Expression zero = Filled(scope_, Shape::Scalar(DType::kS64), 0);
    const Expression steps = Apply(kPad, {is_new, zero},
                                   {{"edge_padding_low", Dims{1}},
                                    {"edge_padding_high", Dims{0}},
                                    {"interior_padding", Dims{0}}});
    return {ResultOf(sorted, 1),
            Apply(kScan, {steps},
                  {{"dimension", int64_t{0}}, {"reverse", false}}, {add()})};
  }

  // Rows `at` of a matrix.
  Expression RowsOf(const Expression& x, const Expression& at) const {
    return Apply(kGather, {x, at},
                 {{"collapsed_slice_dims", Dims{0}},
                  {"index_vector_dim", int64_t{1}},
                  {"offset_dims", Dims{1}},
                  {"slice_sizes", Dims{1, x.dims()[1]}},
                  {"start_index_map", Dims{0}}});
  }

  // Updates k as rows, one to each index vector, in f32 where they are summed.
  Expression RowsOfUpdates(size_t k) const {
    Dims order = OtherAxes(updates_[k].rank(), window_);
    order.insert(order.end(), window_.begin(), window_.end());
    const int64_t rows = VectorsOf(i_, indices_.shape());
    return ConvertTo(
        Reshaped(Transposed(updates_[k], order),
                 {rows, updates_[k].shape().num_elements() / rows}),
        dtypes_[k]);
  }

  // What the updates of each slot make of the elements it has.
  absl::StatusOr<Expressions> ByRows() const {
    const Expression starts = Starts();
    const auto [order, slots] = SlotsOf(PlacesOf(starts));
    Expressions operands, rows;
    for (size_t k = 0; k < n_; ++k) {
      rows.push_back(RowsOf(RowsOfUpdates(k), order));
    }
    const OpDef* monoid = nullptr;
    for (size_t k = 0; k < n_; ++k) {
      monoid = MonoidOf(called_, static_cast<int>(k));
      const Literal neutral = monoid == nullptr
                                  ? ScalarOf(dtypes_[k], 0)
                                  : NeutralOf(*monoid, dtypes_[k]);
      operands.push_back(Spread(ConstantOf(scope_, neutral), rows[k].dims(),
                                OtherAxes(2, {})));
    }
    operands.push_back(slots);
    operands.insert(operands.end(), rows.begin(), rows.end());
    const Expression first = Apply(kScatter, operands,
                                   {{"index_vector_dim", int64_t{1}},
                                    {"inserted_window_dims", Dims{0}},
                                    {"scatter_dims_to_operand_dims", Dims{0}},
                                    {"update_window_dims", Dims{1}}},
                                   {wide_});
    const Expression sorted = RowsOf(starts, order);
    Expressions results;
    for (size_t k = 0; k < n_; ++k) {
      const Expression folded =
          RowsOf(ResultOf(first, static_cast<int>(k)), slots);
      results.push_back(Written(k, sorted, folded));
    }
    return results;
  }

  // Input k, with its elements at those starts combined with the rows: where
  // starts are equal, so are these.
  Expression Written(size_t k, const Expression& starts,
                     const Expression& rows) const {
    const Expression& input = inputs_[k];
    if (called_.results()[k] == static_cast<ValueId>(k)) return input;
    Dims sizes(input.rank(), 1), dims = {starts.dims()[0]}, offsets;
    for (int axis = 0, next = 0; axis < input.rank(); ++axis) {
      if (Contains(inserted_, axis)) continue;
      sizes[axis] = updates_[k].dims()[window_[next++]];
      dims.push_back(sizes[axis]);
      offsets.push_back(next);
    }
    Expression made = Reshaped(rows, dims);
    if (const OpDef* op = MonoidOf(called_, static_cast<int>(k))) {
      const Expression old = Apply(kGather, {input, starts},
                                   {{"collapsed_slice_dims", inserted_},
                                    {"index_vector_dim", int64_t{1}},
                                    {"offset_dims", offsets},
                                    {"slice_sizes", sizes},
                                    {"start_index_map", map_}});
      made = Apply(*op, {ConvertTo(old, dtypes_[k]), made});
    }
    const int second = scope_->monoids.FindSecond(input.dtype(),
                                                  scope_->builder.module());
    return Apply(kScatter, {input, starts, ConvertTo(made, input.dtype())},
                 {{"index_vector_dim", int64_t{1}},
                  {"inserted_window_dims", inserted_},
                  {"scatter_dims_to_operand_dims", map_},
                  {"update_window_dims", offsets}},
                 {second});
  }

  const Instruction& i_;
  const Computation& called_;
  const size_t n_;
  const Expressions inputs_;
  const Expression indices_;
  const Expressions updates_;
  ExpressionScope* const scope_;
  const std::vector<DType> dtypes_;
  const Dims map_, inserted_, window_;
  int wide_ = -1;  // the computation over dtypes_
};

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
    results.push_back(
        monoid == nullptr
            ? fold.results()[k]
            : builder.Add(*monoid, {k, n + k}, {}, {}, SourceLocation{}));
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
  Module to(module.name());
  Monoids monoids;
  std::vector<int> known;
  for (const Computation& from : module.computations()) {
    ComputationBuilder builder(&to, std::string(from.name()));
    ExpressionScope scope{builder, monoids};
    std::vector<ValueId> moved(from.num_values(), kNoValue);
    for (int k = 0; k < from.num_parameters(); ++k) {
      moved[k] = builder.Parameter(from.shape(k), SourceLocation{});
    }
    for (const Instruction& i : from.instructions()) {
      if (i.op == &kParameter) continue;
      Expressions operands;
      std::vector<ValueId> values;
      for (const ValueId v : i.operands) {
        values.push_back(moved[v]);
        operands.emplace_back(&scope, moved[v]);
      }
      if (IsWideScatter(module, from, i)) {
        WideScatter scatter(i, module.computation(i.called[0]), operands);
        HAWSER_ASSIGN_OR_RETURN(const Expressions results, scatter.Run());
        for (int k = 0; k < i.num_results; ++k) {
          moved[i.first_result + k] = results[k].value();
        }
        continue;
      }
      absl::InlinedVector<int, 2> called;
      for (const int callee : i.called) called.push_back(known[callee]);
      const ValueId first =
          builder.Add(*i.op, values, i.attributes, called, SourceLocation{});
      HAWSER_RETURN_IF_ERROR(builder.status());
      for (int k = 0; k < i.num_results; ++k) {
        moved[i.first_result + k] = first + k;
      }
    }
    std::vector<ValueId> results;
    for (const ValueId v : from.results()) results.push_back(moved[v]);
    HAWSER_ASSIGN_OR_RETURN(known.emplace_back(), builder.Finish(results));
  }
  if (numbers != nullptr) *numbers = std::move(known);
  return to;
}

}  // namespace hawser
