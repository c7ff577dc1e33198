#include "kernels/plan/fusion/fusion_cost.h"

#include <algorithm>

#include "core/ops/elementwise/convert.h"

namespace hawser::plan {

int64_t ElementsOf(absl::Span<const int64_t> dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

double FusionCost::ElementSeconds(int instruction) const {
  const double operations = groups_.row(instruction).cost;
  if (operations == 0) return 0;
  if (element_seconds_.empty()) {
    element_seconds_.resize(c_.instructions().size(), -1);
  }
  double& seconds = element_seconds_[instruction];
  if (seconds < 0) {
    const Instruction& i = c_.instructions()[instruction];
    seconds = target_.ElementSeconds(*i.op, WidestDType(c_, i), operations);
  }
  return seconds;
}

bool FusionCost::IsFree(int instruction) const {
  if (groups_.row(instruction).free) return true;
  const Instruction& i = c_.instructions()[instruction];
  return i.op == &kConvert && BytesOf(i.operands[0]) <= BytesOf(i.first_result);
}

ValueId FusionCost::LoadedFor(ValueId v) const {
  while (true) {
    const int producer = c_.producer(v);
    const Instruction& i = c_.instructions()[producer];
    if (i.operands.size() != 1 || !IsFree(producer)) return v;
    v = i.operands[0];
  }
}

double FusionCost::ReadSeconds(ValueId v, double elements,
                               const PointGraph& points, int steps) const {
  if (points.Demanded(v)) return 0;
  v = LoadedFor(v);
  if (points.Demanded(v)) return 0;
  const double touched =
      elements * static_cast<double>(ByteWidth(c_.shape(v).dtype()));
  const double itself = BytesSeconds(std::min(touched, BytesOf(v)));
  const int producer = c_.producer(v);
  const Instruction& i = c_.instructions()[producer];
  if (steps == 0 || i.operands.empty() ||
      groups_.row(producer).node != NodeClass::kLoop) {
    return itself;
  }
  double sources = 0;
  for (const ValueId operand : i.operands) {
    sources += ReadSeconds(operand, elements, points, steps - 1);
    if (sources >= itself) return itself;
  }
  return sources;
}

double FusionCost::Recompute(int instruction, GroupId g, double share) const {
  const Instruction& i = c_.instructions()[instruction];
  const PointGraph& points = *groups_.group(g).points;
  const double evaluations = points.Evaluations(i.first_result);
  const double once =
      share * static_cast<double>(c_.shape(i.first_result).num_elements());
  return std::max(0.0, evaluations - once) * ElementSeconds(instruction) +
         std::max(0.0, PlacesOf(instruction, points) - share) *
             target_.op_seconds;
}

double FusionCost::PlacesOf(int instruction, const PointGraph& points) const {
  const ValueId v = c_.instructions()[instruction].first_result;
  return static_cast<double>(points.PointsOf(v).size());
}

bool FusionCost::PaysInOne(int instruction, GroupId g) const {
  const Instruction& i = c_.instructions()[instruction];
  if (IsFree(instruction)) return true;
  const double again = Recompute(instruction, g, 1);
  if (again == 0) return true;
  const double saved =
      target_.launch_seconds + BytesSeconds(2 * BytesOf(i.first_result));
  const PointGraph& points = *groups_.group(g).points;
  const Again more = {
      points.Evaluations(i.first_result) -
          static_cast<double>(c_.shape(i.first_result).num_elements()),
      PlacesOf(instruction, points) - 1};
  const double spent = groups_.group(g).extra_seconds + again;
  const auto pays = [&](double above) { return spent + above <= saved; };
  return PaysAbove(instruction, {&g, 1}, more, pays) ||
         LeadsToRows(instruction, g);
}

// If the values that it is made of are not computed again too, values as large
// are read instead, and nothing is saved. Looks at the nearest kLook
// instructions, and no further than it takes to say no.
bool FusionCost::PaysAbove(int instruction, absl::Span<const GroupId> takers,
                           const Again& more,
                           absl::FunctionRef<bool(double)> pays) const {
  constexpr size_t kLook = 160;
  if (!pays(0)) return false;
  seen_.resize(c_.instructions().size(), 0);
  ++looks_;
  const auto is_there = [&](ValueId v) {
    return std::all_of(takers.begin(), takers.end(), [&](GroupId g) {
      return groups_.group(g).points->Demanded(v);
    });
  };
  const ValueId made = c_.instructions()[instruction].first_result;
  absl::InlinedVector<int, kLook> open = {instruction};
  double seconds = 0;
  for (size_t next = 0; next < open.size(); ++next) {
    for (const ValueId v : c_.instructions()[open[next]].operands) {
      const int producer = c_.producer(v);
      if (groups_.row(producer).node != NodeClass::kLoop ||
          BytesOf(v) < BytesOf(made) || open.size() == kLook ||
          seen_[producer] == looks_ || is_there(v)) {
        continue;
      }
      seen_[producer] = looks_;
      open.push_back(producer);
      seconds += std::max(0.0, more.evaluations) * ElementSeconds(producer) +
                 std::max(0.0, more.places) * target_.op_seconds;
      if (!pays(seconds)) return false;
    }
  }
  return true;
}

// True if it is made of reductions of rows as long as the group's: then the
// group is about to become a row kernel, which computes it once per row. The
// look ahead is short, so this may be wrong; that costs time, not more.
bool FusionCost::LeadsToRows(int instruction, GroupId g) const {
  const int64_t iterations = ElementsOf(groups_.group(g).points->domain());
  constexpr int kLook = 24;
  absl::InlinedVector<int, kLook> open = {instruction};
  for (size_t next = 0; next < open.size(); ++next) {
    const Instruction& i = c_.instructions()[open[next]];
    const NodeClass node = groups_.row(open[next]).node;
    if (node == NodeClass::kReduce) {
      const ReduceAxes axes = AxesOfReduce(c_, i);
      if (ElementsOf(axes.input) == iterations && IsResident(i, axes))
        return true;
      continue;
    }
    if (node != NodeClass::kLoop) continue;
    for (const ValueId v : i.operands) {
      if (open.size() < kLook) open.push_back(c_.producer(v));
    }
  }
  return false;
}

bool FusionCost::PaysInAll(int instruction, absl::Span<const GroupId> takers,
                           bool written) const {
  constexpr int kSteps = 5;  // to what an operand is computed from
  const Instruction& i = c_.instructions()[instruction];
  const double count = static_cast<double>(takers.size());
  const auto once =
      static_cast<double>(c_.shape(i.first_result).num_elements());
  double evaluations = 0, places = 0, lanes = 0, reads = 0, spent = 0;
  bool leads_to_rows = false;
  for (const GroupId g : takers) {
    const PointGraph& points = *groups_.group(g).points;
    double here = points.Evaluations(i.first_result);
    if (here > once && LeadsToRows(instruction, g)) {
      leads_to_rows = true;
      here = once;
    }
    evaluations += here;
    places += PlacesOf(instruction, points);
    lanes += here * ElementSeconds(instruction);
    spent = std::max(spent, groups_.group(g).extra_seconds);
    for (const ValueId operand : i.operands) {
      reads += ReadSeconds(operand, here, points, kSteps);
    }
  }
  // The alternative is to compute it once; one of the takers writes it, the
  // others read it. A kernel that could be one of rows is two without it.
  double otherwise = BytesSeconds(BytesOf(i.first_result) * count);
  if (leads_to_rows) otherwise += target_.launch_seconds;
  if (!written) {
    otherwise += once * ElementSeconds(instruction);
    places -= 1;
    for (const ValueId v : i.operands) {
      otherwise += BytesSeconds(BytesOf(LoadedFor(v)));
    }
  }
  lanes += places * target_.op_seconds;
  if (lanes + reads >= otherwise) return false;
  if (lanes == 0) return true;
  // Long chains must not be computed twice link by link.
  const Again more = {evaluations - (written ? 0 : once), places};
  if (more.evaluations <= 0) return spent + lanes < otherwise;
  return PaysAbove(instruction, takers, more, [&](double above) {
    return spent + lanes + above < otherwise;
  });
}

bool FusionCost::IsLong(const Instruction& reduce) const {
  return BytesSeconds(BytesOf(LoadedFor(reduce.operands[0]))) >
         2 * target_.launch_seconds;
}

bool FusionCost::IsResident(const Instruction& reduce,
                            const ReduceAxes& axes) const {
  if (!axes.IsInnermost()) return false;
  int64_t row = 1;
  for (const int64_t a : axes.reduced) row *= axes.input[a];
  return row * ByteWidth(c_.shape(reduce.operands[0]).dtype()) <=
         target_.max_row_bytes;
}

FusionCost::Values FusionCost::Behind(absl::Span<const ValueId> values,
                                      int64_t elements) const {
  Values seen;
  LookBehind(values, elements, &seen, [](ValueId) { return false; });
  return seen;
}

bool FusionCost::Meet(const Values& some, absl::Span<const ValueId> others,
                      int64_t elements) const {
  Values seen;
  return LookBehind(others, elements, &seen, [&](ValueId v) {
    return std::find(some.begin(), some.end(), v) != some.end();
  });
}

bool FusionCost::LookBehind(absl::Span<const ValueId> values, int64_t elements,
                            Values* seen,
                            absl::FunctionRef<bool(ValueId)> ends) const {
  constexpr size_t kLook = 16;
  const auto see = [&](ValueId v) {
    if (seen->size() == kLook || c_.shape(v).num_elements() != elements ||
        std::find(seen->begin(), seen->end(), v) != seen->end()) {
      return false;
    }
    seen->push_back(v);
    return ends(v);
  };
  if (std::any_of(values.begin(), values.end(), see)) return true;
  for (size_t next = 0; next < seen->size() && seen->size() < kLook; ++next) {
    const int producer = c_.producer((*seen)[next]);
    if (groups_.row(producer).node != NodeClass::kLoop) continue;
    const auto& operands = c_.instructions()[producer].operands;
    if (std::any_of(operands.begin(), operands.end(), see)) return true;
  }
  return false;
}

}  // namespace hawser::plan
