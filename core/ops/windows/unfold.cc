#include "core/ops/windows/unfold.h"

#include <utility>

#include "core/base/status.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/part/part.h"
#include "core/ops/windows/windows.h"

namespace hawser {

absl::StatusOr<Shapes> InferUnfold(const InferContext& context) {
  const Shape& operand = context.operands[0];
  HAWSER_RETURN_IF_ERROR(CheckAxes(context, 1, "dimensions", operand.rank()));
  HAWSER_RETURN_IF_ERROR(CheckUnique(context, 2, "dimensions"));
  const auto axes = context.attributes.GetInts("dimensions");
  for (const absl::string_view name :
       {"window_dimensions", "window_strides", "window_dilations"}) {
    HAWSER_RETURN_IF_ERROR(CheckLength(context, 3, name, axes.size()));
    for (const int64_t entry : context.attributes.GetInts(name)) {
      if (entry >= 1) continue;
      return Violates(4, name, " holds ", entry, ", must be at least 1");
    }
  }
  Dims dims = operand.dims();
  for (const SlidingWindow& w : SlidingWindowsOf(context.attributes)) {
    dims[w.axis] = w.CountOn(operand.dim(static_cast<int>(w.axis)));
    dims.push_back(w.size);
  }
  HAWSER_ASSIGN_OR_RETURN(const Shape result,
                          MakeResult(5, operand.dtype(), dims));
  return Shapes{result};
}

// Windows of one place that stand beside each other are the axis itself. Other
// axes share elements between windows, so a part of them needs its neighbours'.
AxisMap UnfoldAxes(const InferContext& context,
                   absl::Span<const Shape> results) {
  const Shape& operand = context.operands[0];
  AxisMap map = EmptyAxes(context, results);
  std::vector<bool> slides(operand.rank(), false);
  for (const SlidingWindow& w : SlidingWindowsOf(context.attributes)) {
    slides[w.axis] = w.size > 1 || w.stride > 1;
  }
  for (int i = 0; i < operand.rank(); ++i) {
    const AxisKind kind = slides[i] ? AxisKind::kWindowed : AxisKind::kParallel;
    map.operands[0][i] = map.AddFactor(kind, operand.dim(i));
    if (!slides[i]) map.results[0][i] = map.operands[0][i];
  }
  return OpaqueRest(std::move(map), context, results);
}

absl::Status UnfoldPart(PartContext& c) {
  std::vector<SlidingWindow> windows = SlidingWindowsOf(c.attributes());
  const int rank = c.operand().rank();
  Box box(c.box().begin(), c.box().begin() + rank);
  for (size_t k = 0; k < windows.size(); ++k) {
    SlidingWindow& w = windows[k];
    const Interval places = c.box()[rank + static_cast<int>(k)];
    Interval& of = box[w.axis];
    of = {of.begin * w.stride + places.begin * w.dilation,
          (of.end - 1) * w.stride + (places.end - 1) * w.dilation + 1};
    w.size = places.size();
  }
  c.asks[0] = std::move(box);
  c.make = [windows](PartScope& s) {
    s.Give(0, Unfolded(s.operands[0], windows));
    return absl::OkStatus();
  };
  return absl::OkStatus();
}

absl::Status UnfoldGradient(GradientContext& c) {
  c.Give(0, [&] {
    return SummedWindows(c.g(), c.x().dims(),
                         SlidingWindowsOf(c.instruction.attributes));
  });
  return absl::OkStatus();
}

}  // namespace hawser
