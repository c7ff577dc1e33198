#include "client/sdk/ops/indexing/edge.h"

#include <algorithm>
#include <cmath>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/indexing/index.h"
#include "core/base/status.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

using sdk::kLongestAxis;
using sdk::OpScope;

Dims IntegersOf(absl::Span<const Padding> paddings) {
  Dims all;
  for (const Padding& p : paddings) {
    all.insert(all.end(), {p.low, p.high, p.interior});
  }
  return all;
}

// Entries [start, limit) of an axis.
Tensor Part(const OpScope& s, const Tensor& x, int axis, int64_t start,
            int64_t limit) {
  Dims starts(x.rank(), 0), limits = x.shape().dims();
  starts[axis] = start;
  limits[axis] = limit;
  return s.Add(kSlice, {x},
               {{"start_indices", std::move(starts)},
                {"limit_indices", std::move(limits)},
                {"strides", Dims(x.rank(), 1)}});
}

// Returns which entry of an axis of `size` stands at each position from -low
// on. Places repeat with a period: that of the entries, or of there and back.
Tensor IndexOutside(Edge edge, int64_t size, int64_t low, int64_t count) {
  const OpScope::Formula numbers;
  const Tensor place = Iota(DType::kS64, {count}, 0) - low;
  if (edge == Edge::kReplicate) return Clip(place, 0, size - 1);
  int64_t period = size;
  if (edge == Edge::kMirror) period = 2 * size;
  if (edge == Edge::kReflect) period = std::max<int64_t>(2 * size - 2, 1);
  const Tensor rest = place % period;
  const Tensor turn = Select(rest < 0, rest + period, rest);
  if (edge == Edge::kCyclic) return turn;
  const int64_t back = edge == Edge::kMirror ? period - 1 : period;
  return Minimum(turn, back - turn);
}

}  // namespace

std::pair<Tensor, Tensor> Split(const Operand& x, int64_t at, int64_t axis) {
  const OpScope s("Split", {&x}, {{at}});
  const auto fail = [](const Tensor& error) { return std::pair(error, error); };
  if (!s.ok()) return fail(s.error());
  const Tensor value = s.As(x);
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return fail(s.Fail(along.status()));
  const int64_t size = value.dim(*along);
  if (at > size || at < -size) {
    return fail(s.Fail(InvalidArgument("axis ", *along, " of size ", size,
                                       " cannot be cut at ", at)));
  }
  if (at < 0) at += size;
  return {Part(s, value, *along, 0, at), Part(s, value, *along, at, size)};
}

std::pair<Tensor, Tensor> Split(const Operand& x, Fraction at, int64_t axis) {
  const OpScope s("Split", {&x});
  const auto fail = [](const Tensor& error) { return std::pair(error, error); };
  if (!s.ok()) return fail(s.error());
  const Tensor value = s.As(x);
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return fail(s.Fail(along.status()));
  if (!(at.part >= 0 && at.part <= 1)) {
    return fail(s.Fail(
        InvalidArgument("a fraction of ", at.part, " is not between 0 and 1")));
  }
  const auto size = static_cast<double>(value.dim(*along));
  return Split(value, static_cast<int64_t>(std::ceil(size * at.part)), *along);
}

Tensor Pad(const Operand& x, const Operand& value,
           absl::Span<const Padding> paddings) {
  const OpScope s("Pad", {&x, &value}, {IntegersOf(paddings)});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::CommonDType({&x, &value});
  Dims low, high, interior;
  for (const Padding& p : paddings) {
    low.push_back(p.low);
    high.push_back(p.high);
    interior.push_back(p.interior);
  }
  return s.Add(kPad, {s.As(x, dtype), s.As(value, dtype)},
               {{"edge_padding_low", std::move(low)},
                {"edge_padding_high", std::move(high)},
                {"interior_padding", std::move(interior)}});
}

Tensor PadOuter(const Operand& x, Edge edge,
                absl::Span<const Padding> paddings) {
  const OpScope s("PadOuter", {&x}, {IntegersOf(paddings)});
  if (!s.ok()) return s.error();
  Tensor value = s.As(x);
  if (static_cast<int>(paddings.size()) != value.rank()) {
    return s.Fail(InvalidArgument("needs a padding for each of ", value.rank(),
                                  " axes, got ", paddings.size()));
  }
  for (int axis = 0; axis < value.rank(); ++axis) {
    const Padding& p = paddings[axis];
    const int64_t size = value.dim(axis);
    if (p.low < 0 || p.high < 0 || p.interior != 0) {
      return s.Fail(InvalidArgument("the padding of axis ", axis,
                                    " is negative or has an interior"));
    }
    if (p.low == 0 && p.high == 0) continue;
    if (size == 0 || size > kLongestAxis || p.low > kLongestAxis ||
        p.high > kLongestAxis) {
      return s.Fail(InvalidArgument("axis ", axis, " of size ", size,
                                    " cannot be padded by ", p.low, " and ",
                                    p.high));
    }
    value = Take(value, IndexOutside(edge, size, p.low, p.low + size + p.high),
                 axis);
    if (value.dtype() == DType::kInvalid) return value;
  }
  return value;
}

}  // namespace hawser
