#include "kernels/cpu/movement/scatter_walk.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "absl/container/inlined_vector.h"
#include "core/base/status.h"
#include "kernels/cpu/movement/indices.h"

namespace hawser::cpu {
namespace {

// The most boxes whose offsets are found before they are combined, their steps
// at most, and the longest of their rows.
constexpr int64_t kMostOffsets = 512;
constexpr double kPlacedSteps = 1 << 20;
constexpr int64_t kLongestRow = 4096;

// One loop over a box: its extent, and strides in the result and the updates.
struct BoxLoop {
  int64_t size, to, from;
};
using BoxLoops = absl::InlinedVector<BoxLoop, 6>;  // the innermost first

// Drops axes of size 1 and merges those that run on into the one before.
void AddLoop(const BoxLoop& loop, BoxLoops* loops) {
  if (loop.size == 1) return;
  if (!loops->empty()) {
    BoxLoop& last = loops->back();
    if (loop.to == last.to * last.size && loop.from == last.from * last.size) {
      last.size *= loop.size;
      return;
    }
  }
  loops->push_back(loop);
}

absl::Status RunRows(const BoxLoops& loops, CombinedRow row, Combiner& combiner,
                     WorkMeter* meter) {
  Dims at(loops.size(), 0);
  while (true) {
    HAWSER_RETURN_IF_ERROR(combiner.Run(row, meter));
    size_t i = 1;
    for (; i < loops.size(); ++i) {
      row.to += loops[i].to;
      row.from += loops[i].from;
      if (++at[i] < loops[i].size) break;
      row.to -= loops[i].size * loops[i].to;
      row.from -= loops[i].size * loops[i].from;
      at[i] = 0;
    }
    if (i >= loops.size()) return absl::OkStatus();
  }
}

// Boxes of which all that is inside is a dense row that depends on no index:
// the windows have one element along the axes that indices count.
struct PlacedBoxes {
  int64_t to = 0, from = 0;  // of the row, in the result and in the updates
  int64_t size = 0;
  int32_t end = 0;  // the result's elements
};

// Nothing where boxes are not so.
std::optional<PlacedBoxes> FindPlacedBoxes(const ScatterAxes& axes,
                                           const ScatterPart& part) {
  for (const ScatterAxes::Outer& a : axes.outer) {
    if (a.input >= 0) return std::nullopt;
  }
  const int64_t elements = axes.elements();
  if (elements > std::numeric_limits<int32_t>::max()) return std::nullopt;
  PlacedBoxes boxes{.end = static_cast<int32_t>(elements)};
  BoxLoops loops;
  bool empty = false;
  for (size_t i = axes.inputs.size(); i-- > 0;) {
    const ScatterAxes::Input& a = axes.inputs[i];
    if (a.component >= 0) {
      if (a.window != 1) return std::nullopt;
      continue;
    }
    const bool cut = static_cast<int>(i) == part.axis;
    const int64_t low = cut ? part.begin : 0;
    const int64_t high = std::min(a.window, cut ? part.end : a.size);
    empty |= low >= high;
    boxes.to += low * a.stride;
    boxes.from += low * a.update;
    AddLoop({high - low, a.stride, a.update}, &loops);
  }
  if (empty) return boxes;
  if (loops.size() > 1) return std::nullopt;
  if (loops.size() == 1 && (loops[0].to != 1 || loops[0].from != 1)) {
    return std::nullopt;
  }
  boxes.size = loops.empty() ? 1 : loops[0].size;
  if (boxes.size > kLongestRow) return std::nullopt;
  return boxes;
}

// An axis that indices count: `size` of them from `low` on are inside.
struct IndexedAxis {
  uint32_t low, size, stride;
};

// Adds what n indices make along the axis to each offset; -1: outside. kFirst:
// all offsets are `first` before.
template <bool kFirst, typename T>
void AddOffsets(const T* from, int64_t step, int64_t n, IndexedAxis axis,
                int32_t first, int32_t* offsets) {
  using Index = std::conditional_t<sizeof(T) < 8, uint32_t, uint64_t>;
  for (int64_t k = 0; k < n; ++k) {
    // An index below 0 is above all sizes here.
    const auto at = static_cast<Index>(from[k * step]);
    const int32_t before = kFirst ? first : offsets[k];
    const bool is_in = at - axis.low < axis.size && before >= 0;
    const uint32_t offset =
        static_cast<uint32_t>(before) + static_cast<uint32_t>(at) * axis.stride;
    offsets[k] = is_in ? static_cast<int32_t>(offset) : -1;
  }
}

// Walks all index vectors and combines what falls into one part of the inputs.
// Used by one thread.
class ScatterWalk {
 public:
  // All arguments outlive this object.
  ScatterWalk(const KernelContext& c, const ScatterAxes& axes,
              const ScatterPart& part, Combiner& combiner)
      : indices_(c.operands[c.operands.size() / 2]),
        axes_(axes),
        part_(part),
        combiner_(combiner),
        meter_(c.environment),
        inside_(axes.inputs.size(), 0) {
    if (!axes.outer.empty()) last_ = axes.outer.back();
    if (combiner_.direct_cost() > 0) placed_ = FindPlacedBoxes(axes, part);
  }

  absl::Status Run() {
    const size_t loops = axes_.outer.empty() ? 0 : axes_.outer.size() - 1;
    Dims at(loops, 0);
    int64_t index = axes_.first_index, update = axes_.first_update;
    while (true) {
      HAWSER_RETURN_IF_ERROR(placed_.has_value() ? RunPlaced(index, update)
                                                 : RunBoxes(index, update));
      size_t i = loops;
      while (i-- > 0) {
        const ScatterAxes::Outer& axis = axes_.outer[i];
        const bool end = ++at[i] == axis.size;
        const int64_t step = end ? 1 - axis.size : 1;
        if (end) at[i] = 0;
        index += step * axis.index;
        update += step * axis.update;
        if (axis.input >= 0) inside_[axis.input] = at[i];
        if (!end) break;
      }
      if (i == static_cast<size_t>(-1)) return meter_.End();
    }
  }

 private:
  // All boxes along the last outer axis.
  absl::Status RunBoxes(int64_t index, int64_t update) {
    for (int64_t k = 0; k < last_.size; ++k) {
      if (last_.input >= 0) inside_[last_.input] = k;
      HAWSER_RETURN_IF_ERROR(meter_.Begin(kBoxSteps));
      HAWSER_RETURN_IF_ERROR(
          RunBox(index + k * last_.index, update + k * last_.update));
    }
    return absl::OkStatus();
  }

  // The same where they are placed_.
  absl::Status RunPlaced(int64_t index, int64_t update) {
    const double steps = kBoxSteps + combiner_.direct_cost() *
                                         static_cast<double>(placed_->size);
    const int64_t most = std::clamp<int64_t>(
        static_cast<int64_t>(kPlacedSteps / steps), 1, kMostOffsets);
    int32_t found[kMostOffsets];
    for (int64_t k = 0; k < last_.size; k += most) {
      const int64_t n = std::min(most, last_.size - k);
      HAWSER_RETURN_IF_ERROR(meter_.Begin(steps * static_cast<double>(n)));
      if (placed_->size == 0) continue;
      const int64_t first = index + k * last_.index;
      const int32_t* const given = GivenOffsets(first);
      if (given == nullptr) FindOffsets(first, n, found);
      combiner_.Run({.offsets = {given == nullptr ? found : given,
                                 static_cast<size_t>(n)},
                     .end = placed_->end,
                     .from = update + k * last_.update + placed_->from,
                     .step = last_.update,
                     .size = placed_->size});
    }
    return absl::OkStatus();
  }

  // The indices themselves, if they need no computing; else null.
  const int32_t* GivenOffsets(int64_t index) const {
    const bool given = axes_.inputs.size() == 1 &&
                       axes_.inputs[0].component == 0 && part_.axis < 0 &&
                       last_.index == 1 &&
                       indices_.shape().dtype() == DType::kS32;
    return given ? indices_.data<int32_t>().data() + index : nullptr;
  }

  // Finds the offsets of n boxes, from index vector `index` on; -1: outside.
  void FindOffsets(int64_t index, int64_t n, int32_t* offsets) const {
    const auto to = static_cast<int32_t>(placed_->to);
    bool is_first = true;
    for (size_t i = 0; i < axes_.inputs.size(); ++i) {
      const ScatterAxes::Input& a = axes_.inputs[i];
      if (a.component < 0) continue;
      const bool cut = static_cast<int>(i) == part_.axis;
      const int64_t low = cut ? part_.begin : 0;
      const IndexedAxis axis{
          static_cast<uint32_t>(low),
          static_cast<uint32_t>((cut ? part_.end : a.size) - low),
          static_cast<uint32_t>(a.stride)};
      const int64_t begin = index + a.component * axes_.component_stride;
      VisitDType(indices_.shape().dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsInteger<T>) {
          auto* add = is_first ? AddOffsets<true, T> : AddOffsets<false, T>;
          add(indices_.data<T>().data() + begin, last_.index, n, axis, to,
              offsets);
        }
      });
      is_first = false;
    }
    if (is_first) std::fill_n(offsets, n, to);
  }

  // Combines the part of the box that is inside, row by row.
  absl::Status RunBox(int64_t index, int64_t update) {
    BoxLoops loops;
    CombinedRow row{0, 1, update, 1, 1};
    for (size_t i = axes_.inputs.size(); i-- > 0;) {
      const ScatterAxes::Input& a = axes_.inputs[i];
      int64_t start = 0;
      if (a.component >= 0) {
        const int64_t from = index + a.component * axes_.component_stride;
        // Nothing that starts at either end or beyond is inside.
        start = std::clamp(ReadIndex(indices_, from), -a.size, a.size);
      }
      start += inside_[i];
      const bool cut = static_cast<int>(i) == part_.axis;
      const int64_t low = std::max(start, cut ? part_.begin : int64_t{0});
      const int64_t high =
          std::min(start + (a.inner ? a.window : 1), cut ? part_.end : a.size);
      if (low >= high) return absl::OkStatus();
      row.to += low * a.stride;
      if (!a.inner) continue;
      row.from += (low - start) * a.update;
      AddLoop({high - low, a.stride, a.update}, &loops);
    }
    if (!loops.empty()) {
      row.to_stride = loops[0].to;
      row.from_stride = loops[0].from;
      row.size = loops[0].size;
    }
    return RunRows(loops, row, combiner_, &meter_);
  }

  const Literal& indices_;
  const ScatterAxes& axes_;
  const ScatterPart part_;
  Combiner& combiner_;
  WorkMeter meter_;
  Dims inside_;  // offset in the window, of outer axes
  ScatterAxes::Outer last_{1, 0, 0};
  std::optional<PlacedBoxes> placed_;
};

}  // namespace

absl::Status WalkScatter(const KernelContext& c, const ScatterAxes& axes,
                         const ScatterPart& part, Combiner& combiner) {
  return ScatterWalk(c, axes, part, combiner).Run();
}

}  // namespace hawser::cpu
