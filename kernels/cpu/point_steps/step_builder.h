// StepBuilder: the step of each point.
#ifndef HAWSER_KERNELS_CPU_POINT_STEPS_STEP_BUILDER_H_
#define HAWSER_KERNELS_CPU_POINT_STEPS_STEP_BUILDER_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/cpu/point_steps/chain_builder.h"
#include "kernels/cpu/point_steps/point_slots.h"
#include "kernels/cpu/point_steps/region_points.h"

namespace hawser::cpu {

// Adds the steps of points to lists. Invariant: a step follows those whose
// slots it uses, so points are added after their operands. Used once.
class StepBuilder {
 public:
  using PointId = plan::PointId;

  // Both outlive it.
  StepBuilder(const RegionPoints& points, PointSlots* slots)
      : points_(points), slots_(*slots), chains_(points, slots) {}

  // Adds the points that have no slots, and their symbols. Errors:
  // kUnimplemented, an op that has no lanes.
  absl::Status AddPoints(absl::Span<const PointId> points, TileSteps* to);
  // Adds the symbols that are the point's values.
  absl::Status AddSymbols(PointId id, TileSteps* to);

  ChainBuilder& chains() { return chains_; }
  const ChainBuilder& chains() const { return chains_; }

 private:
  absl::Status AddPoint(PointId id, TileSteps* to);
  absl::Status AddOp(PointId id, TileSteps* to);
  void AddLoad(PointId id, TileSteps* to);
  void AddMove(PointId id, TileSteps* to);
  void AddIota(PointId id, TileSteps* to);
  void AddChoice(PointId id, TileSteps* to);
  // The point's lanes in that shape.
  LaneSlot As(PointId id, LaneShape shape, TileSteps* to) {
    chains_.EndIfMakes(id);
    return slots_.As(id, shape, to);
  }

  const RegionPoints& points_;
  PointSlots& slots_;
  ChainBuilder chains_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINT_STEPS_STEP_BUILDER_H_
