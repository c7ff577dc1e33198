// Parts of what is addressed by values.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/part/part.h"
#include "core/ops/rules.h"
#include "core/ops/scatters/scatter_rows.h"

namespace hawser {
namespace {

// min(high, the largest number of an integer dtype).
int64_t Representable(DType dtype, int64_t high) {
  const int bits = 8 * ByteWidth(dtype) - (IsSigned(dtype) ? 1 : 0);
  return bits >= 63 ? high : std::min(high, (int64_t{1} << bits) - 1);
}

Expression IntegerLike(const Expression& x, int64_t value) {
  const Expression scalar = ConvertTo(
      ConstantOf(x.scope(), Literal::Scalar<int64_t>(value)), x.dtype());
  return Spread(scalar, x.dims(), OtherAxes(x.rank(), {}));
}

// The start as the op takes it: s64, in [0, high].
Expression Clamped(const Expression& start, int64_t high) {
  const Expression clamped =
      Apply(kClamp, {IntegerLike(start, 0), start,
                     IntegerLike(start, Representable(start.dtype(), high))});
  return ConvertTo(clamped, DType::kS64);
}

// x with elements before and after each axis, whatever they hold.
Expression WithRoom(const Expression& x, const Dims& before,
                    const Dims& behind) {
  const Expression none = Filled(x.scope(), Shape::Scalar(x.dtype()), 0);
  return Apply(kPad, {x, none},
               {{"edge_padding_low", before},
                {"edge_padding_high", behind},
                {"interior_padding", Dims(before.size(), 0)}});
}

}  // namespace

// An axis that is taken whole starts at 0 whatever its start says.
absl::Status DynamicSlicePart(PartContext& c) {
  const int rank = c.operand().rank();
  Box box = WholeBox(c.operand());
  std::vector<int64_t> last(rank);  // the largest start; 0: taken whole
  for (int i = 0; i < rank; ++i) {
    last[i] = c.operand().dim(i) - c.result().dim(i);
    if (last[i] == 0) box[i] = c.box()[i];
    c.asks[1 + i] = Box();
  }
  c.asks[0] = std::move(box);
  c.make = [last, box = c.box()](PartScope& s) {
    std::vector<Expression> operands = {s.operands[0]};
    for (size_t i = 0; i < last.size(); ++i) {
      operands.push_back(last[i] == 0
                             ? ConstantOf(&s.scope, Literal::Scalar<int64_t>(0))
                             : Clamped(s.operands[1 + i], last[i]) +
                                   s.offset(box[i].begin));
    }
    s.Give(0, Apply(kDynamicSlice, operands, {{"slice_sizes", SizesOf(box)}}));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

// Room for the update is made on both sides of the part, so that what of it
// lies outside is written there, and cut off.
absl::Status DynamicUpdateSlicePart(PartContext& c) {
  const int rank = c.operand().rank();
  const Shape& update = c.operands[1];
  c.asks[0] = c.box();
  Box taken = WholeBox(update);
  Dims room, last;  // room: 0 where the update is as large as the operand
  for (int i = 0; i < rank; ++i) {
    last.push_back(c.operand().dim(i) - update.dim(i));
    room.push_back(last[i] == 0 ? 0 : update.dim(i));
    if (last[i] == 0) taken[i] = c.box()[i];
    c.asks[2 + i] = Box();
  }
  c.asks[1] = std::move(taken);
  c.make = [room, last, box = c.box()](PartScope& s) {
    const Expression roomy = WithRoom(s.operands[0], room, room);
    std::vector<Expression> operands = {roomy, s.operands[1]};
    Box of, part;
    for (size_t i = 0; i < room.size(); ++i) {
      Expression start = ConstantOf(&s.scope, Literal::Scalar<int64_t>(0));
      if (last[i] > 0) {
        start = Clamped(s.operands[2 + i], last[i]) - s.offset(box[i].begin) +
                ConstantOf(&s.scope, Literal::Scalar<int64_t>(room[i]));
      }
      operands.push_back(start);  // clamped by the op, into the room
      of.push_back({0, box[i].size() + 2 * room[i]});
      part.push_back({room[i], room[i] + box[i].size()});
    }
    s.Give(0, SliceTo(Apply(kDynamicUpdateSlice, operands), of, part));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

Expression ClampedStarts(const Expression& indices, int axis,
                         absl::Span<const int64_t> last) {
  const DType dtype = indices.dtype();
  std::vector<int64_t> most;
  for (int64_t high : last) most.push_back(Representable(dtype, high));
  Dims components, others = OtherAxes(indices.rank(), {});
  if (axis < indices.rank()) {
    components.push_back(static_cast<int64_t>(most.size()));
    others = OtherAxes(indices.rank(), {axis});
  }
  const Literal high =
      Literal::Of<int64_t>(absl::MakeConstSpan(most), components);
  const Expression highest =
      Spread(ConvertTo(ConstantOf(indices.scope(), high), dtype),
             indices.dims(), others);
  return ConvertTo(Apply(kClamp, {IntegerLike(indices, 0), indices, highest}),
                   DType::kS64);
}

namespace {

// A cut through a window of a gather: along an axis of which every slice holds
// only a part, at a start that is a component of the index vectors.
struct WindowCut {
  int component;
  int64_t begin;  // of the part, in the window
};

struct GatherPlan {
  int index_axis;
  Dims slice_sizes;
  std::vector<WindowCut> cuts;
  Dims last;  // the largest start of each component
};

// The index vectors of a part. If a window is cut, they are clamped as the
// whole clamps them, before its part is looked for.
Expression StartsOf(const GatherPlan& plan, const Expression& indices,
                    const PartScope& s) {
  if (plan.cuts.empty()) return indices;
  Expression starts = ClampedStarts(indices, plan.index_axis, plan.last);
  for (const WindowCut& cut : plan.cuts) {
    starts =
        AddedTo(starts, plan.index_axis, cut.component, s.offset(cut.begin));
  }
  return starts;
}

}  // namespace

absl::Status GatherPart(PartContext& c) {
  const auto map = c.ints("start_index_map");
  const auto offsets = c.ints("offset_dims");
  const auto sizes = c.ints("slice_sizes");
  const Shape& indices = c.operands[1];
  GatherPlan plan;
  plan.index_axis = static_cast<int>(c.attributes().GetInt("index_vector_dim"));
  plan.slice_sizes.assign(sizes.begin(), sizes.end());

  const Dims batch = OtherAxes(c.result().rank(), offsets);
  Box taken = WholeBox(indices);
  for (int i = 0, next = 0; i < indices.rank(); ++i) {
    if (i != plan.index_axis) taken[i] = c.box()[batch[next++]];
  }
  c.asks[1] = std::move(taken);

  Box box = WholeBox(c.operand());
  const Dims window =
      OtherAxes(c.operand().rank(), c.ints("collapsed_slice_dims"));
  for (size_t k = 0; k < window.size(); ++k) {
    const int64_t axis = window[k];
    const Interval wanted = c.box()[offsets[k]];
    const auto at = std::find(map.begin(), map.end(), axis);
    plan.slice_sizes[axis] = wanted.size();
    // Every slice starts at 0 there.
    if (at == map.end() || sizes[axis] == c.operand().dim(axis)) {
      box[axis] = wanted;
    } else if (wanted.size() != sizes[axis]) {
      plan.cuts.push_back({static_cast<int>(at - map.begin()), wanted.begin});
    }
  }
  c.asks[0] = std::move(box);
  for (int64_t axis : map) {
    plan.last.push_back(c.operand().dim(axis) - sizes[axis]);
  }
  c.make = [plan, attributes = c.attributes()](PartScope& s) {
    Attributes changed = attributes;
    changed.Set("slice_sizes", plan.slice_sizes);
    s.Give(0, Apply(kGather, {s.operands[0], StartsOf(plan, s.operands[1], s)},
                    std::move(changed)));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

namespace {

// The place of a part of a scatter's inputs, and the offsets that find it
// there.
struct ScatterPlan {
  int index_axis;
  Box box;    // of the inputs and the results
  Dims room;  // after the part, where a window is larger than it
  struct Shift {
    int component;
    int64_t by;
  };
  std::vector<Shift> shifts;
};

absl::Status MakeScatter(const ScatterPlan& plan, const Attributes& attributes,
                         PartScope& s) {
  const size_t count = s.operands.size() / 2;
  std::vector<Expression> operands(s.operands.begin(), s.operands.end());
  Expression& indices = operands[count];
  indices = SignedIndices(indices);
  for (const ScatterPlan::Shift& shift : plan.shifts) {
    indices =
        AddedTo(indices, plan.index_axis, shift.component, -s.offset(shift.by));
  }
  const Box part = WholeBox(operands[0].shape());
  Box roomy = part;
  for (size_t i = 0; i < part.size(); ++i) roomy[i].end += plan.room[i];
  for (size_t k = 0; k < count && roomy != part; ++k) {
    operands[k] = WithRoom(operands[k], Dims(part.size(), 0), plan.room);
  }
  HAWSER_ASSIGN_OR_RETURN(const int combine, s.whole(0));
  const Expression first = Apply(kScatter, operands, attributes, {&combine, 1});
  for (size_t k = 0; k < count; ++k) {
    s.Give(static_cast<int>(k),
           SliceTo(ResultOf(first, static_cast<int>(k)), roomy, part));
  }
  return absl::OkStatus();
}

}  // namespace

// Each part takes all updates that may fall into it: those outside are dropped
// one by one, as those that miss the whole are.
absl::Status ScatterPart(PartContext& c) {
  const auto map = c.ints("scatter_dims_to_operand_dims");
  const auto inserted = c.ints("inserted_window_dims");
  const auto window_dims = c.ints("update_window_dims");
  const size_t count = c.operands.size() / 2;
  const Shape& updates = c.operands[count + 1];
  ScatterPlan plan;
  plan.index_axis = static_cast<int>(c.attributes().GetInt("index_vector_dim"));
  plan.box = *HullOf(c.wanted);
  plan.room.assign(plan.box.size(), 0);
  Box taken = WholeBox(updates);
  bool missed = false;  // no update falls into the part
  int next = 0;
  for (int i = 0; i < c.operand().rank(); ++i) {
    const Interval own = plan.box[i];
    const bool in_window = !Contains(inserted, i);
    const int64_t window_axis = in_window ? window_dims[next++] : -1;
    const int64_t width = in_window ? updates.dim(window_axis) : 1;
    const auto at = std::find(map.begin(), map.end(), i);
    if (at != map.end()) {
      plan.shifts.push_back({static_cast<int>(at - map.begin()), own.begin});
      plan.room[i] = std::max(width - own.size(), int64_t{0});
      continue;
    }
    // Every window starts at 0 there.
    const Interval hit = {std::min(own.begin, width), std::min(own.end, width)};
    missed = missed || hit.size() <= 0;
    if (in_window) taken[window_axis] = hit;
  }
  for (size_t k = 0; k < count; ++k) c.asks[k] = c.gives[k] = plan.box;
  if (missed) {
    c.make = [count](PartScope& s) {
      for (size_t k = 0; k < count; ++k) {
        s.Give(static_cast<int>(k), s.operands[k]);
      }
      return absl::OkStatus();
    };
    return absl::OkStatus();
  }
  c.AskWhole(static_cast<int>(count));
  for (size_t k = 0; k < count; ++k) c.asks[count + 1 + k] = taken;
  c.make = [plan, attributes = c.attributes()](PartScope& s) {
    return MakeScatter(plan, attributes, s);
  };
  return absl::OkStatus();
}

}  // namespace hawser
