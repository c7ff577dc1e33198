#include "core/ops/windows/residues.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"

namespace hawser {

int64_t ResidueCount(const SlidingWindow& window, int64_t n) {
  return std::clamp<int64_t>(n, 1, window.stride);
}

AxisByResidue ByResidue(const SlidingWindow& window, int64_t n, int64_t low,
                        int64_t count) {
  AxisByResidue axis;
  axis.residues = ResidueCount(window, n);
  axis.groups = (n + axis.residues - 1) / axis.residues;
  std::map<int64_t, std::vector<int64_t>> places_of;
  for (int64_t place = 0; place < window.size; ++place) {
    for (int64_t r = 0; r < axis.residues; ++r) {
      // Window w has element w * stride + place * dilation of the padded axis.
      const int64_t first = r + low - place * window.dilation;
      if (first % window.stride != 0) continue;
      const int64_t shift = first / window.stride;
      if (shift >= count || shift + axis.groups <= 0) continue;
      std::vector<int64_t>& places = places_of[shift];
      places.resize(axis.residues, -1);
      places[r] = place;
    }
  }
  for (auto& [shift, places] : places_of) {
    axis.shifts.push_back({shift, std::move(places)});
  }
  return axis;
}

int64_t ShiftTuples(absl::Span<const AxisByResidue> axes) {
  int64_t count = 1;
  for (const AxisByResidue& axis : axes) {
    count *= static_cast<int64_t>(axis.shifts.size());
  }
  return count;
}

std::vector<const WindowShift*> ShiftTuple(absl::Span<const AxisByResidue> axes,
                                           int64_t number) {
  std::vector<const WindowShift*> shifts(axes.size());
  for (size_t a = axes.size(); a-- > 0;) {
    const auto of_axis = static_cast<int64_t>(axes[a].shifts.size());
    shifts[a] = &axes[a].shifts[number % of_axis];
    number /= of_axis;
  }
  return shifts;
}

Expression WithShiftsRoom(absl::Span<const AxisByResidue> axes,
                          const Expression& x, const Expression& value) {
  const Dims dims = x.dims();
  WindowSpec around = WindowSpec::Of(Dims(dims.size(), 1));
  for (size_t a = 0; a < axes.size(); ++a) {
    if (axes[a].shifts.empty()) continue;
    around.low[a] = -axes[a].shifts.front().shift;
    around.high[a] = axes[a].groups + axes[a].shifts.back().shift - dims[a];
  }
  return PaddedFor(around, x, value);
}

Expression AtShifts(absl::Span<const AxisByResidue> axes,
                    absl::Span<const WindowShift* const> shifts,
                    const Expression& x) {
  Dims start(x.rank(), 0), limit = x.dims();
  for (size_t a = 0; a < axes.size(); ++a) {
    start[a] = shifts[a]->shift - axes[a].shifts.front().shift;
    limit[a] = start[a] + axes[a].groups;
  }
  return SliceOf(x, std::move(start), std::move(limit));
}

Expression JoinedResidues(absl::Span<const AxisByResidue> axes,
                          const Expression& x, const Dims& dims) {
  Dims joined;
  for (const AxisByResidue& axis : axes) {
    joined.push_back(axis.groups * axis.residues);
  }
  const Expression all = Reshaped(x, joined);
  if (joined == dims) return all;
  return SliceOf(all, Dims(dims.size(), 0), dims);
}

}  // namespace hawser
