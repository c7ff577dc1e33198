// Simplifications of what folds elements: reductions of one, sums that begin
// with 0, and scatters of one a row or of one window.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/scatters/scatter_rows.h"
#include "core/passes/patterns/simplify.h"

namespace hawser {
namespace {

// `value` repeated to `dims`: axis k of it becomes axis axes[k].
Simplified RepeatedTo(Rewriter& rewriter, ValueId value, const Dims& dims,
                      Dims axes) {
  return rewriter.Append(
      kBroadcastInDim, {value},
      {{"dims", dims}, {"broadcast_dimensions", std::move(axes)}});
}
Simplified ReshapedTo(Rewriter& rewriter, ValueId value, const Dims& dims) {
  if (rewriter.shape(value).dims() == dims) return value;
  return rewriter.Append(kReshape, {value}, {{"dims", dims}});
}

std::optional<Fold> FoldOf(const Site& site) {
  const int callee = site.rewriter.MappedCalls(site.instruction)[0];
  return FoldOf(site.rewriter.module().computation(callee));
}

// ---- scatters of one a row --------------------------------------------------

// Index vectors of which all components but one are the vector's own place: a
// row of the result has one update, at a place that is a value.
struct Rows {
  ValueId index = kNoValue;  // the component that is a value
  int64_t axis = 0;          // of the result, which it addresses
  Dims sizes;                // of the axes of vectors that count rows
  Dims axes;                 // of the result, for each of them
};

// The axis along which all of `value` counts from 0, if its one component is
// such a count.
std::optional<int64_t> CountedAxis(const Rewriter& rewriter, ValueId value,
                                   int64_t component_axis) {
  const Instruction& i = rewriter.producer(value);
  if (i.op != &kIota) return std::nullopt;
  const int64_t axis = i.attributes.GetInt("iota_dimension");
  if (axis == component_axis) return std::nullopt;
  return axis;
}

std::optional<Rows> FindRows(const Site& site) {
  const Rewriter& rewriter = site.rewriter;
  const auto map = site.ints("scatter_dims_to_operand_dims");
  const int64_t components =
      site.instruction.attributes.GetInt("index_vector_dim");
  const Shape indices = site.shape(1);
  const Instruction& joined = site.producer(1);
  if (joined.op != &kConcatenate || components >= indices.rank() ||
      joined.attributes.GetInt("dimension") != components ||
      joined.operands.size() != map.size()) {
    return std::nullopt;
  }
  Rows rows;
  Dims axis_of(indices.rank(), -1);  // of the result, for axes that count
  for (size_t k = 0; k < map.size(); ++k) {
    const ValueId part = joined.operands[k];
    const auto counted = CountedAxis(rewriter, part, components);
    if (!counted) {
      if (rows.index != kNoValue) return std::nullopt;
      rows.index = part;
      rows.axis = map[k];
      continue;
    }
    const int axis = static_cast<int>(*counted);
    const int64_t size = site.result.dim(static_cast<int>(map[k]));
    if (axis_of[axis] >= 0 || indices.dim(axis) != size) return std::nullopt;
    axis_of[axis] = map[k];
  }
  if (rows.index == kNoValue) return std::nullopt;
  for (int axis = 0; axis < indices.rank(); ++axis) {
    if (axis == components) continue;
    if (axis_of[axis] >= 0) {
      rows.sizes.push_back(indices.dim(axis));
      rows.axes.push_back(axis_of[axis]);
    } else if (indices.dim(axis) != 1) {
      return std::nullopt;
    }
  }
  return rows;
}

// ---- scatters of one window
// --------------------------------------------------

// The elements of a constant of integers; nullopt for other values.
std::optional<Dims> IntegersOf(const Instruction& i) {
  if (i.op != &kConstant) return std::nullopt;
  const Literal& literal = i.attributes.GetLiteral("value");
  return VisitDType(literal.shape().dtype(),
                    [&](auto tag) -> std::optional<Dims> {
                      using T = typename decltype(tag)::type;
                      Dims numbers;
                      if constexpr (kIsInteger<T>) {
                        for (const T n : literal.data<T>()) {
                          numbers.push_back(static_cast<int64_t>(n));
                        }
                        return numbers;
                      }
                      return std::nullopt;
                    });
}

struct Window {
  Dims starts, sizes;  // by axis of the input
};

// The window of a scatter's one index vector, if it lies inside.
std::optional<Window> FindWindow(const Site& site) {
  const Shape& input = site.shape(0);
  const auto map = site.ints("scatter_dims_to_operand_dims");
  const auto at = IntegersOf(site.producer(1));
  if (!at || at->size() != map.size() ||
      VectorsOf(site.instruction, site.shape(1)) != 1) {
    return std::nullopt;
  }
  Window found{Dims(input.rank(), 0),
               WindowSizes(site.instruction, input, site.shape(2))};
  for (size_t k = 0; k < map.size(); ++k) found.starts[map[k]] = (*at)[k];
  for (int axis = 0; axis < input.rank(); ++axis) {
    const int64_t room = input.dim(axis) - found.sizes[axis];
    if (found.starts[axis] < 0 || found.starts[axis] > room) {
      return std::nullopt;
    }
  }
  return found;
}

// ---- sums that begin with 0 -------------------------------------------------

// True if `value` holds sums that begin with 0, which are never -0, wherever
// they were moved to.
bool BeginsWithZero(const Rewriter& rewriter, ValueId value) {
  const Instruction* i = &rewriter.producer(value);
  while (i->op == &kReshape || i->op == &kBroadcastInDim ||
         i->op == &kTranspose) {
    value = i->operands[0];
    i = &rewriter.producer(value);
  }
  if (i->op != &kReduce || i->operands.size() != 2) return false;
  const auto fold = FoldOf(rewriter.module().computation(i->called[0]));
  return fold && fold->monoid == &kAdd && IsNumber(rewriter, i->operands[1], 0);
}

}  // namespace

Simplified SumAfterZero(const Site& site) {
  for (const int k : {0, 1}) {
    if (IsNumber(site.rewriter, site.operands[k], 0) &&
        BeginsWithZero(site.rewriter, site.operands[1 - k])) {
      return site.operands[1 - k];
    }
  }
  return kNoValue;
}

Simplified FoldOfOne(const Site& site) {
  if (site.operands.size() != 2) return kNoValue;
  for (const int64_t axis : site.ints("dimensions")) {
    if (site.shape(0).dim(static_cast<int>(axis)) != 1) return kNoValue;
  }
  const std::optional<Fold> fold = FoldOf(site);
  if (!fold || fold->monoid == nullptr) return kNoValue;
  const Dims dims = site.result.dims();
  Rewriter& rewriter = site.rewriter;
  HAWSER_ASSIGN_OR_RETURN(const ValueId one,
                          ReshapedTo(rewriter, site.operands[0], dims));
  HAWSER_ASSIGN_OR_RETURN(const ValueId initial,
                          RepeatedTo(rewriter, site.operands[1], dims, {}));
  return rewriter.Append(*fold->monoid, {initial, one});
}

Simplified ScatterOfOneWindow(const Site& site) {
  if (site.operands.size() != 3) return kNoValue;
  const std::optional<Fold> fold = FoldOf(site);
  const std::optional<Window> window = FindWindow(site);
  if (!fold || !window) return kNoValue;
  Rewriter& rewriter = site.rewriter;
  HAWSER_ASSIGN_OR_RETURN(
      ValueId made, ReshapedTo(rewriter, site.operands[2], window->sizes));
  if (fold->monoid != nullptr) {
    Dims limits = window->starts;
    for (size_t axis = 0; axis < limits.size(); ++axis) {
      limits[axis] += window->sizes[axis];
    }
    HAWSER_ASSIGN_OR_RETURN(
        const ValueId old,
        rewriter.Append(kSlice, {site.operands[0]},
                        {{"start_indices", window->starts},
                         {"limit_indices", limits},
                         {"strides", Dims(limits.size(), 1)}}));
    HAWSER_ASSIGN_OR_RETURN(made, rewriter.Append(*fold->monoid, {old, made}));
  }
  std::vector<ValueId> operands = {site.operands[0], made};
  for (const int64_t start : window->starts) {
    HAWSER_ASSIGN_OR_RETURN(
        operands.emplace_back(),
        rewriter.Append(kConstant, {}, {{"value", Literal::Scalar(start)}}));
  }
  return rewriter.Append(kDynamicUpdateSlice, operands);
}

Simplified ScatterOfOneARow(const Site& site) {
  const auto inserted = site.ints("inserted_window_dims");
  const auto map = site.ints("scatter_dims_to_operand_dims");
  const size_t rank = site.result.rank();
  if (site.operands.size() != 3 || inserted.size() != rank ||
      map.size() != rank) {
    return kNoValue;
  }
  const Instruction& input = site.producer(0);
  if (input.op != &kBroadcastInDim ||
      !site.rewriter.shape(input.operands[0]).is_scalar()) {
    return kNoValue;
  }
  const std::optional<Fold> fold = FoldOf(site);
  const std::optional<Rows> rows = FindRows(site);
  if (!fold || !rows) return kNoValue;
  Rewriter& rewriter = site.rewriter;
  const Dims dims = site.result.dims();
  const auto spread = [&](ValueId value) -> Simplified {
    HAWSER_ASSIGN_OR_RETURN(const ValueId flat,
                            ReshapedTo(rewriter, value, rows->sizes));
    return RepeatedTo(rewriter, flat, dims, rows->axes);
  };
  // Small integers do not count as far as an axis may be long.
  ValueId index = rows->index;
  DType dtype = rewriter.shape(index).dtype();
  if (BitWidth(dtype) < 64) {
    dtype = DType::kS64;
    HAWSER_ASSIGN_OR_RETURN(
        index, rewriter.Append(kConvert, {index}, {{"dtype", dtype}}));
  }
  HAWSER_ASSIGN_OR_RETURN(index, spread(index));
  HAWSER_ASSIGN_OR_RETURN(
      const ValueId place,
      rewriter.Append(
          kIota, {},
          {{"dims", dims}, {"dtype", dtype}, {"iota_dimension", rows->axis}}));
  HAWSER_ASSIGN_OR_RETURN(const ValueId here,
                          rewriter.Append(kCompare, {index, place},
                                          {{"direction", std::string("EQ")}}));
  HAWSER_ASSIGN_OR_RETURN(ValueId updated, spread(site.operands[2]));
  if (fold->monoid != nullptr) {
    HAWSER_ASSIGN_OR_RETURN(
        updated, rewriter.Append(*fold->monoid, {site.operands[0], updated}));
  }
  return rewriter.Append(kSelect, {here, updated, site.operands[0]});
}

}  // namespace hawser
