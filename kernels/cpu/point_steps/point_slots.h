// PointSlots: the slots of a region's points, by point and shape.
#ifndef HAWSER_KERNELS_CPU_POINT_STEPS_POINT_SLOTS_H_
#define HAWSER_KERNELS_CPU_POINT_STEPS_POINT_SLOTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/point_steps/region_points.h"
#include "kernels/cpu/point_steps/slot_plan.h"
#include "kernels/cpu/tile_steps/tile_step.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Invariant: a point that has a slot in some shape has it in its own shape, and
// the steps added so far fill it. Lists of steps are made one after the other,
// in the order in which they first run. Used once.
class PointSlots {
 public:
  using PointId = plan::PointId;

  // `points` outlives it.
  explicit PointSlots(const RegionPoints& points);

  // The steps that follow stand in a new list, which looks at its scopes anew.
  // `lasts`: what it gives stays.
  void BeginList(bool lasts);
  // Forgets the slots of points that are computed for each tile: a pass that
  // does not find an earlier one's rows computes them anew.
  void ForgetTiles();

  bool Has(PointId id, LaneShape shape) const {
    return slots_of_[IndexOf(id, shape)].slot >= 0;
  }
  const LaneSlot& Of(PointId id, LaneShape shape) const {
    return slots_of_[IndexOf(id, shape)];
  }
  // The slot is the point's in that shape, too.
  void Set(PointId id, LaneShape shape, LaneSlot slot) {
    slots_of_[IndexOf(id, shape)] = slot;
  }
  // A new slot of the point, in its own shape.
  LaneSlot Define(PointId id, bool over);
  // The point's lanes in that shape, expanded if no slot has them. Points that
  // are the same everywhere are expanded once.
  LaneSlot As(PointId id, LaneShape shape, TileSteps* to);
  void SetSymbol(int symbol, LaneSlot slot) {
    symbol_slots_[symbol] = slot.slot;
  }

  // The number of the scope for lanes of that shape, looked at before.
  int AddScope(plan::ScopeId scope, LaneShape shape, TileSteps* to);
  // The scope number of the point; -1: it is always computed.
  int ScopeOf(PointId id, LaneShape shape, TileSteps* to);
  // The index over the loops of tiles; the step that follows uses its symbols.
  LaneIndex LanesOf(const plan::IndexExpr& index);

  void Add(std::unique_ptr<ValueStep> step, TileSteps* to);
  // `output` is filled by a step of `to`.
  void AddOutput(OutputSlot* output, const TileSteps* to);
  // The output of this list that fills the slot; null: there is none.
  OutputSlot* OutputOf(int slot) const;
  // True if no step after the one that fills the slot loads memory that may be
  // the result's.
  bool MayStoreEarly(int slot, int result) const;

  SlotPlan& plan() { return plan_; }
  // The steps that are done once for each worker.
  TileSteps& once() { return once_; }
  int num_scopes() const { return num_scopes_; }

 private:
  static constexpr int kShapes = 4;  // LaneShape's

  static size_t IndexOf(int number, LaneShape shape) {
    return kShapes * static_cast<size_t>(number) + static_cast<size_t>(shape);
  }

  const RegionPoints& points_;
  SlotPlan plan_;
  TileSteps once_;
  std::vector<LaneSlot> slots_of_;    // by point and shape; slot -1: none
  std::vector<int> scopes_;           // of this list, by scope and shape; or -1
  std::vector<int> symbol_slots_;     // by symbol
  std::vector<OutputSlot*> outputs_;  // of this list
  int num_scopes_ = 0;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINT_STEPS_POINT_SLOTS_H_
