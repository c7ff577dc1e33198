// ChainBuilder: which points become links of one step.
#ifndef HAWSER_KERNELS_CPU_POINT_STEPS_CHAIN_BUILDER_H_
#define HAWSER_KERNELS_CPU_POINT_STEPS_CHAIN_BUILDER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kernels/cpu/chains/chain_rows.h"
#include "kernels/cpu/point_steps/chain_draft.h"
#include "kernels/cpu/point_steps/point_slots.h"
#include "kernels/cpu/point_steps/region_points.h"
#include "kernels/cpu/points/rotates.h"

namespace hawser::cpu {

// Collects points in a draft and makes it a step. Invariant: a point that the
// draft makes has no slot yet, so the draft is ended before a step outside the
// chain reads it. Used once.
class ChainBuilder {
 public:
  using PointId = plan::PointId;

  // Both outlive it.
  ChainBuilder(const RegionPoints& points, PointSlots* slots);

  // The point's operands; a rotate's are those of its shifts.
  absl::Span<const PointId> OperandsOf(PointId id) const;

  // Adds an op to the draft, or begins one with it. False: no chain can do it.
  bool AddOp(PointId id, TileSteps* to);
  // Adds indices that grow by 1 from lane to lane. False: they do not, or no
  // chain can do it.
  bool AddIota(PointId id, int scope, TileSteps* to);
  // Makes `id` another name of what the draft makes as `on`. False: it does not
  // make it, or not in the lanes of `id`.
  bool AddName(PointId on, PointId id, TileSteps* to);

  // Makes the draft a step, if there is one.
  void End();
  // The same if the draft makes the point.
  void EndIfMakes(PointId id) {
    if (draft_.Makes(id)) End();
  }
  // True: the next draft on full lanes begins with prefetches of the lanes that
  // the next tile reads first.
  void set_prefetches(bool prefetches) { prefetches_ = prefetches; }

 private:
  using Rows = absl::InlinedVector<const ChainRow*, 2>;

  // The rows that the op can be a link by; none: it cannot.
  Rows RowsOf(PointId id) const;
  // How wide a chain's lanes are for them; 0: of what a draft has.
  int64_t WidthFor(const ChainRow& row, PointId id) const;
  // True if chains have the links for an op on halves.
  bool HasHalves(PointId id) const;
  // How an op on lanes of `shape` reads a point: in as few lanes as there are.
  ChainDraft::Read ReadOf(PointId other, LaneShape shape, TileSteps* to);
  // The draft's value for an operand, which it reads unless it made it.
  ChainValue Read(PointId id, TileSteps* to);
  // The point's halves in its own shape, as f32.
  LaneSlot Widened(PointId id, TileSteps* to);
  // A draft without links, in place of the one that there is.
  void Begin(LaneShape shape, int scope, int64_t width, TileSteps* to);
  void AddPrefetches();
  // The slot that has a link's operand; none: a spill slot has it, or none
  // does.
  LaneSlot SlotOf(const WrittenLink& link, ChainDraft* draft);

  const RegionPoints& points_;
  PointSlots& slots_;
  std::vector<int> uses_;  // by point
  // Rotates of tiles' lanes, if there are chains; their shifts become no steps.
  absl::flat_hash_map<PointId, Rotate> rotates_;
  absl::flat_hash_map<PointId, LaneSlot> widened_;  // once
  bool prefetches_ = false;
  ChainDraft draft_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINT_STEPS_CHAIN_BUILDER_H_
