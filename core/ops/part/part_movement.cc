// Parts of what makes, repeats or moves elements by position.
#include <utility>
#include <vector>

#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/part/part.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

// Rounds towards higher numbers.
int64_t CeilOf(int64_t x, int64_t by) {
  return x > 0 ? (x + by - 1) / by : -(-x / by);
}

Expression Iota(ExpressionScope* scope, DType dtype, Dims dims, int64_t axis) {
  return Expression(scope, scope->builder.Add(kIota, {},
                                              {{"dims", std::move(dims)},
                                               {"dtype", dtype},
                                               {"iota_dimension", axis}},
                                              {}, SourceLocation{}));
}

}  // namespace

// A part of the counting axis counts in s64, so that what it converts is the
// number itself, as for the whole.
absl::Status IotaPart(PartContext& c) {
  c.make = [axis = c.attributes().GetInt("iota_dimension"), whole = c.result(),
            box = c.box()](PartScope& s) {
    const Interval counted = box[axis];
    if (counted.size() == whole.dim(static_cast<int>(axis))) {
      s.Give(0, Iota(&s.scope, whole.dtype(), SizesOf(box), axis));
      return absl::OkStatus();
    }
    const Dims dims = SizesOf(box);
    const Expression count = Iota(&s.scope, DType::kS64, dims, axis);
    const Expression from =
        Spread(s.offset(counted.begin), dims, OtherAxes(count.rank(), {}));
    s.Give(0, ConvertTo(count + from, whole.dtype()));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

absl::Status BroadcastInDimPart(PartContext& c) {
  const auto where = c.ints("broadcast_dimensions");
  Box box;
  for (int i = 0; i < c.operand().rank(); ++i) {
    const int64_t size = c.operand().dim(i);
    const bool stretched = size != c.result().dim(static_cast<int>(where[i]));
    box.push_back(stretched ? Interval{0, size} : c.box()[where[i]]);
  }
  c.asks[0] = std::move(box);
  c.make = [where = Dims(where.begin(), where.end()),
            dims = SizesOf(c.box())](PartScope& s) {
    s.Give(0, Apply(kBroadcastInDim, {s.operands[0]},
                    {{"broadcast_dimensions", where}, {"dims", dims}}));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

absl::Status TransposePart(PartContext& c) {
  const auto permutation = c.ints("permutation");
  Box box(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    box[permutation[i]] = c.box()[i];
  }
  c.asks[0] = std::move(box);
  return absl::OkStatus();
}

absl::Status ReversePart(PartContext& c) {
  Box box = c.box();
  for (int64_t axis : c.ints("dimensions")) {
    const int64_t size = c.result().dim(static_cast<int>(axis));
    box[axis] = {size - box[axis].end, size - box[axis].begin};
  }
  c.asks[0] = std::move(box);
  return absl::OkStatus();
}

// Operands of which nothing lies in the part are not asked for.
absl::Status ConcatenatePart(PartContext& c) {
  const int64_t axis = c.attributes().GetInt("dimension");
  const Interval wanted = c.box()[axis];
  int64_t from = 0;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const int64_t size = c.operands[i].dim(static_cast<int>(axis));
    const Interval own = {std::max(wanted.begin - from, int64_t{0}),
                          std::min(wanted.end - from, size)};
    from += size;
    if (own.size() <= 0) continue;
    c.asks[i] = c.box();
    (*c.asks[i])[axis] = own;
  }
  c.make = [axis](PartScope& s) {
    std::vector<Expression> parts;
    for (const Expression& operand : s.operands) {
      if (operand.present()) parts.push_back(operand);
    }
    s.Give(0, parts.size() == 1
                  ? parts[0]
                  : Apply(kConcatenate, parts, {{"dimension", axis}}));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

absl::Status SlicePart(PartContext& c) {
  const auto start = c.ints("start_indices");
  const auto strides = c.ints("strides");
  Box box;
  for (int i = 0; i < c.operand().rank(); ++i) {
    const Interval wanted = c.box()[i];
    box.push_back({start[i] + wanted.begin * strides[i],
                   start[i] + (wanted.end - 1) * strides[i] + 1});
  }
  c.make = [strides = Dims(strides.begin(), strides.end()),
            sizes = SizesOf(box)](PartScope& s) {
    s.Give(0, Apply(kSlice, {s.operands[0]},
                    {{"start_indices", Dims(sizes.size(), 0)},
                     {"limit_indices", sizes},
                     {"strides", strides}}));
    return absl::OkStatus();
  };
  c.asks[0] = std::move(box);
  return absl::OkStatus();
}

// Element j of an axis stands at low + j * (interior + 1).
absl::Status PadPart(PartContext& c) {
  const auto low = c.ints("edge_padding_low");
  const auto interior = c.ints("interior_padding");
  c.asks[1] = Box();
  Box box;
  Dims before, behind;
  bool padding_alone = false;
  for (int i = 0; i < c.operand().rank(); ++i) {
    const Interval wanted = c.box()[i];
    const int64_t step = interior[i] + 1, size = c.operand().dim(i);
    const int64_t first =
        std::max(CeilOf(wanted.begin - low[i], step), int64_t{0});
    const int64_t end = std::min(CeilOf(wanted.end - low[i], step), size);
    padding_alone = padding_alone || first >= end;
    box.push_back({first, end});
    before.push_back(low[i] + first * step - wanted.begin);
    behind.push_back(wanted.size() - before.back() -
                     ((end - first - 1) * step + 1));
  }
  if (padding_alone) {
    c.make = [dims = SizesOf(c.box())](PartScope& s) {
      s.Give(0, Spread(s.operands[1], dims,
                       OtherAxes(static_cast<int>(dims.size()), {})));
      return absl::OkStatus();
    };
    return absl::OkStatus();
  }
  c.asks[0] = std::move(box);
  c.make = [before, behind,
            interior = Dims(interior.begin(), interior.end())](PartScope& s) {
    s.Give(0, Apply(kPad, {s.operands[0], s.operands[1]},
                    {{"edge_padding_low", before},
                     {"edge_padding_high", behind},
                     {"interior_padding", interior}}));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

// Whatever is sorted is whole along its axis.
absl::Status SortPart(PartContext& c) {
  Box box = *HullOf(c.wanted);
  const int64_t axis = c.attributes().GetInt("dimension");
  box[axis] = {0, c.operand().dim(axis)};
  for (size_t i = 0; i < c.operands.size(); ++i) {
    c.asks[i] = box;
    c.gives[i] = box;
  }
  return absl::OkStatus();
}

}  // namespace hawser
