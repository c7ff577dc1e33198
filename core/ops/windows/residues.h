// Which windows an element of an axis is in, and at which of their places.
#ifndef HAWSER_CORE_OPS_WINDOWS_RESIDUES_H_
#define HAWSER_CORE_OPS_WINDOWS_RESIDUES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/ops/expression.h"
#include "core/ops/windows/windows.h"

namespace hawser {

// Element number residues * q + r of the axis, for q < groups, is in window q +
// shift at place places[r].
struct WindowShift {
  int64_t shift = 0;
  std::vector<int64_t> places;  // by residue; below 0: in none so far away
};

// Elements of an axis by their residue, which is by the windows' stride: those
// of one residue have the same places in windows as far from them, so that what
// comes back from windows is found without a division of each element's number.
struct AxisByResidue {
  int64_t residues = 1, groups = 1;
  std::vector<WindowShift> shifts;  // ascending
};

// `n` elements behind `low` of padding, under `count` windows. Takes as long as
// the residues and places are many: ResidueCount says the former.
AxisByResidue ByResidue(const SlidingWindow& window, int64_t n, int64_t low,
                        int64_t count);
int64_t ResidueCount(const SlidingWindow& window, int64_t n);

// ---- several axes ----------------------------------------------------------

// How many tuples of a shift along each axis there are, and number `number` of
// them, in row-major order: earlier windows stand first.
int64_t ShiftTuples(absl::Span<const AxisByResidue> axes);
std::vector<const WindowShift*> ShiftTuple(absl::Span<const AxisByResidue> axes,
                                           int64_t number);
// x, whose first axes number windows, with `value` where shifts reach beyond
// them; every tuple's windows are a slice of that, one for each group.
Expression WithShiftsRoom(absl::Span<const AxisByResidue> axes,
                          const Expression& x, const Expression& value);
Expression AtShifts(absl::Span<const AxisByResidue> axes,
                    absl::Span<const WindowShift* const> shifts,
                    const Expression& x);
// x, in which each axis is groups, then residues if there are several, as a
// tensor of sizes `dims`.
Expression JoinedResidues(absl::Span<const AxisByResidue> axes,
                          const Expression& x, const Dims& dims);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_WINDOWS_RESIDUES_H_
