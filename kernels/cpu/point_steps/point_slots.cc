#include "kernels/cpu/point_steps/point_slots.h"

#include <algorithm>
#include <utility>

namespace hawser::cpu {

using plan::Point;
using plan::PointId;
using plan::ScopeId;
using When = PointShapes::When;

PointSlots::PointSlots(const RegionPoints& points)
    : points_(points),
      slots_of_(kShapes * points.size()),
      scopes_(kShapes * points.region().scopes.size(), -1),
      symbol_slots_(points.region().symbols.size(), -1) {}

void PointSlots::BeginList(bool lasts) {
  plan_.BeginList(lasts);
  scopes_.assign(scopes_.size(), -1);
  outputs_.clear();
}

void PointSlots::ForgetTiles() {
  for (size_t n = 0; n < points_.size(); ++n) {
    if (points_.when(static_cast<PointId>(n)) != When::kTile) continue;
    std::fill_n(slots_of_.begin() + kShapes * n, kShapes, LaneSlot());
  }
}

// ---- slots ------------------------------------------------------------------

LaneSlot PointSlots::Define(PointId id, bool over) {
  const LaneShape shape = points_.shape(id);
  const LaneSlot slot = plan_.Define(shape, points_.width(id), over);
  Set(id, shape, slot);
  return slot;
}

LaneSlot PointSlots::As(PointId id, LaneShape shape, TileSteps* to) {
  if (Has(id, shape)) return Of(id, shape);
  const LaneSlot from = Of(id, points_.shape(id));
  if (points_.when(id) == When::kOnce) {
    const LaneSlot slot = plan_.DefineLasting(shape, from.width);
    Set(id, shape, slot);
    Add(std::make_unique<ExpandStep>(-1, from, slot, points_.MovesOf(slot)),
        &once_);
    return slot;
  }
  // A step of its own: the one before it may give lanes over what this reads.
  plan_.BeginStep();
  plan_.Use(from.slot);
  const LaneSlot slot = plan_.Define(shape, from.width, /*over=*/false);
  Set(id, shape, slot);
  Add(std::make_unique<ExpandStep>(ScopeOf(id, shape, to), from, slot,
                                   points_.MovesOf(slot)),
      to);
  plan_.BeginStep();
  return slot;
}

// ---- scopes and indices -----------------------------------------------------

int PointSlots::ScopeOf(PointId id, LaneShape shape, TileSteps* to) {
  const ScopeId scope = points_.point(id).scope;
  if (scope == 0 || !points_.shapes().Tells(scope, shape)) return -1;
  return AddScope(scope, shape, to);
}

int PointSlots::AddScope(ScopeId scope, LaneShape shape, TileSteps* to) {
  const int known = scopes_[IndexOf(scope, shape)];
  if (known >= 0) return known;
  const plan::Scope& s = points_.region().scopes[scope];
  const int parent = s.parent <= 0 ? -1 : AddScope(s.parent, shape, to);
  std::vector<ScopeStep::Part> parts;
  plan_.BeginStep();
  for (const plan::Predicate& p : s.predicates) {
    parts.push_back({LanesOf(points_.shapes().Merged(p.value)), p.bounds});
  }
  const int number = num_scopes_++;
  scopes_[IndexOf(scope, shape)] = number;
  // Looked at by steps of this list alone, to its end.
  const LaneSlot lanes = plan_.DefineForList(shape, sizeof(bool));
  to->push_back(
      std::make_unique<ScopeStep>(number, parent, std::move(parts), lanes));
  return number;
}

LaneIndex PointSlots::LanesOf(const plan::IndexExpr& index) {
  std::vector<int> used;
  index.CollectSymbols(&used);
  for (const int s : used) plan_.Use(symbol_slots_[s]);
  return LaneIndex(index, points_.lanes(), points_.shapes().symbols());
}

// ---- outputs ----------------------------------------------------------------

void PointSlots::Add(std::unique_ptr<ValueStep> step, TileSteps* to) {
  AddOutput(&step->output(), to);
  to->push_back(std::move(step));
}

void PointSlots::AddOutput(OutputSlot* output, const TileSteps* to) {
  if (to != &once_) outputs_.push_back(output);
}

OutputSlot* PointSlots::OutputOf(int slot) const {
  const auto output =
      std::find_if(outputs_.rbegin(), outputs_.rend(),
                   [&](const OutputSlot* o) { return o->slot().slot == slot; });
  return output == outputs_.rend() ? nullptr : *output;
}

bool PointSlots::MayStoreEarly(int slot, int result) const {
  const int64_t bytes = points_.BytesOfResult(result);
  for (size_t n = 0; n < slots_of_.size(); ++n) {
    const LaneSlot& other = slots_of_[n];
    if (other.slot < 0 || plan_.LastOf(other.slot) <= plan_.FirstOf(slot)) {
      continue;
    }
    const auto id = static_cast<PointId>(n / kShapes);
    const Point::Kind kind = points_.point(id).kind;
    // The lanes of a choice may be a load's.
    if (kind == Point::kChoose) return false;
    if (kind == Point::kLoad && points_.array(id).byte_size() == bytes) {
      return false;
    }
  }
  return true;
}

}  // namespace hawser::cpu
