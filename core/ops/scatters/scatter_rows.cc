#include "core/ops/scatters/scatter_rows.h"

#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

Dims ListOf(const Instruction& i, absl::string_view name) {
  const auto list = i.attributes.GetInts(name);
  return Dims(list.begin(), list.end());
}

}  // namespace

Expression SignedIndices(const Expression& indices) {
  constexpr double kFarOutside = 0x1p62;
  if (indices.dtype() != DType::kU64) return ConvertTo(indices, DType::kS64);
  return ConvertTo(Apply(kMinimum, {indices, Like(indices, kFarOutside)}),
                   DType::kS64);
}

std::optional<Fold> FoldOf(const Computation& computation) {
  if (const OpDef* const monoid = MonoidOf(computation)) return Fold{monoid};
  if (computation.results()[0] == 1) return Fold{};
  return std::nullopt;
}

int64_t VectorsOf(const Instruction& scatter, const Shape& indices) {
  const int64_t axis = scatter.attributes.GetInt("index_vector_dim");
  int64_t vectors = 1;
  for (int k = 0; k < indices.rank(); ++k) {
    if (k != axis) vectors *= indices.dim(k);
  }
  return vectors;
}

Dims WindowSizes(const Instruction& scatter, const Shape& input,
                 const Shape& updates) {
  const auto inserted = scatter.attributes.GetInts("inserted_window_dims");
  const auto window = scatter.attributes.GetInts("update_window_dims");
  Dims sizes;
  for (int axis = 0, next = 0; axis < input.rank(); ++axis) {
    sizes.push_back(Contains(inserted, axis)
                        ? 1
                        : updates.dim(static_cast<int>(window[next++])));
  }
  return sizes;
}

ScatterRows::ScatterRows(const Instruction& scatter,
                         const std::vector<Expression>& operands)
    : i(scatter),
      n(operands.size() / 2),
      inputs(operands.begin(), operands.begin() + n),
      indices(operands[n]),
      updates(operands.begin() + n + 1, operands.end()),
      scope(indices.scope()),
      map(ListOf(scatter, "scatter_dims_to_operand_dims")),
      inserted(ListOf(scatter, "inserted_window_dims")),
      window(ListOf(scatter, "update_window_dims")),
      vectors(VectorsOf(scatter, indices.shape())) {}

Expression ScatterRows::Starts() const {
  Expression starts = SignedIndices(indices);
  const int64_t axis = i.attributes.GetInt("index_vector_dim");
  if (axis < starts.rank()) {
    Dims order = OtherAxes(starts.rank(), {axis});
    order.push_back(axis);
    starts = Transposed(starts, order);
  }
  return Reshaped(starts, {vectors, static_cast<int64_t>(map.size())});
}

Expression ScatterRows::Places(const Expression& starts) const {
  const int64_t components = static_cast<int64_t>(map.size());
  const Expression by_component =
      Reshaped(Transposed(starts, {1, 0}), {components * vectors});
  Expression place, inside;
  for (int64_t k = 0; k < components; ++k) {
    const Expression component =
        SliceAlong(by_component, 0, k * vectors, (k + 1) * vectors);
    const double size = static_cast<double>(inputs[0].dims()[map[k]]);
    const Expression is_in = Apply(
        kAnd,
        {Compare(component, CompareDirection::kGe, Like(component, 0)),
         Compare(component, CompareDirection::kLt, Like(component, size))});
    inside = k == 0 ? is_in : Apply(kAnd, {inside, is_in});
    place = k == 0 ? component : size * place + component;
  }
  return Choose(inside, place, Like(place, static_cast<double>(num_places())));
}

int64_t ScatterRows::num_places() const {
  int64_t places = 1;
  for (const int64_t axis : map) places *= inputs[0].dims()[axis];
  return places;
}

Expression ScatterRows::Updates(size_t k) const {
  const Expression& x = updates[k];
  Dims order = OtherAxes(x.rank(), window);
  order.insert(order.end(), window.begin(), window.end());
  const int64_t width = x.shape().num_elements() / vectors;
  return Reshaped(Transposed(x, order), {vectors, width});
}

Expression Counted(ExpressionScope* scope, int64_t count, DType dtype) {
  return Expression(scope, scope->builder.Add(kIota, {},
                                              {{"dims", Dims{count}},
                                               {"dtype", dtype},
                                               {"iota_dimension", int64_t{0}}},
                                              {}, SourceLocation{}));
}

Expression RowsAt(const Expression& matrix, const Expression& at) {
  return Apply(kGather, {matrix, at},
               {{"collapsed_slice_dims", Dims{0}},
                {"index_vector_dim", int64_t{1}},
                {"offset_dims", Dims{1}},
                {"slice_sizes", Dims{1, matrix.dims()[1]}},
                {"start_index_map", Dims{0}}});
}

}  // namespace hawser
