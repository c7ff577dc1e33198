#include "core/sharding/probes/axis_cutter.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace hawser {
namespace {

// The most probes for one axis of an op that moves elements.
constexpr int kMostProbes = 1 << 15;

// The part of an axis of an operand that is not needed at all.
constexpr int kNone = -2;

// Says which part of each axis that is cut an interval of a result needs; none:
// more than one of some axis.
using Cell = std::vector<int>;

// The part between boundaries that the interval lies in; -1: it lies in
// several.
int PartOf(absl::Span<const int64_t> at, Interval interval) {
  const auto after = std::upper_bound(at.begin(), at.end(), interval.begin);
  if (after != at.end() && *after < interval.end) return -1;
  return static_cast<int>(after - at.begin());
}

// Halves [0, size) of the probed axis until each part needs one cell.
class Cutter {
 public:
  Cutter(const AxisProbe& probe, absl::Span<const AnsweringAxis> answering)
      : probe_(probe), answering_(answering) {}

  absl::StatusOr<std::optional<std::vector<int64_t>>> Run() {
    std::optional<std::vector<int64_t>> none;
    HAWSER_RETURN_IF_ERROR(Cut({0, probe_.size()}));
    if (failed_) return none;
    // One cell in two places would be parts of parts: a minor axis alone.
    std::vector<Cell> cells = cells_;
    std::sort(cells.begin(), cells.end());
    if (std::adjacent_find(cells.begin(), cells.end()) != cells.end()) {
      return none;
    }
    return std::optional(std::move(boundaries_));
  }

 private:
  absl::Status Cut(Interval interval) {
    if (failed_ || ++probes_ > kMostProbes) {
      failed_ = true;
      return absl::OkStatus();
    }
    HAWSER_ASSIGN_OR_RETURN(const std::optional<Cell> cell, Find(interval));
    if (cell.has_value()) {
      Add(*cell, interval.begin);
      return absl::OkStatus();
    }
    if (interval.size() == 1) {
      failed_ = true;
      return absl::OkStatus();
    }
    const int64_t middle = interval.begin + interval.size() / 2;
    HAWSER_RETURN_IF_ERROR(Cut({interval.begin, middle}));
    return Cut({middle, interval.end});
  }

  // A part that needs no operand, as padding, goes with its neighbours.
  void Add(const Cell& cell, int64_t begin) {
    if (!cells_.empty() && (cells_.back() == cell || NeedsNothing(cell))) {
      return;
    }
    if (!cells_.empty() && NeedsNothing(cells_.back())) {
      cells_.back() = cell;
      return;
    }
    if (!cells_.empty()) boundaries_.push_back(begin);
    cells_.push_back(cell);
  }
  static bool NeedsNothing(const Cell& cell) {
    return std::all_of(cell.begin(), cell.end(),
                       [](int part) { return part == kNone; });
  }

  // The cell of all of the interval, down to its ends.
  absl::StatusOr<std::optional<Cell>> Find(Interval interval) const {
    HAWSER_ASSIGN_OR_RETURN(const auto asks, probe_.Ask(interval));
    std::optional<Cell> cell = CellOf(asks);
    if (!cell.has_value() || interval.size() == 1) return cell;
    for (int64_t end : {interval.begin, interval.end - 1}) {
      HAWSER_ASSIGN_OR_RETURN(const auto one, probe_.Ask({end, end + 1}));
      const std::optional<Cell> own = CellOf(one);
      if (own != cell && !(own.has_value() && NeedsNothing(*own))) {
        return std::optional<Cell>();
      }
    }
    return cell;
  }

  // An operand of which nothing is asked is in no part.
  std::optional<Cell> CellOf(const std::vector<MaybeBox>& asks) const {
    Cell cell;
    for (const AnsweringAxis& one : answering_) {
      const MaybeBox& box = asks[one.operand];
      const bool any = box.has_value() && ElementsOf(*box) > 0;
      const int part = any ? PartOf(one.boundaries, (*box)[one.axis]) : kNone;
      if (part == -1) return std::nullopt;
      cell.push_back(part);
    }
    return cell;
  }

  const AxisProbe& probe_;
  const absl::Span<const AnsweringAxis> answering_;
  std::vector<int64_t> boundaries_;
  std::vector<Cell> cells_;  // one more than boundaries
  int probes_ = 0;
  bool failed_ = false;
};

}  // namespace

absl::StatusOr<std::optional<std::vector<int64_t>>> CutToAnswer(
    const AxisProbe& probe, absl::Span<const AnsweringAxis> answering) {
  return Cutter(probe, answering).Run();
}

}  // namespace hawser
