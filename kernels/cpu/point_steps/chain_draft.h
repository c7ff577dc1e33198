// ChainDraft: points of a region as values of a chain that may go on.
#ifndef HAWSER_KERNELS_CPU_POINT_STEPS_CHAIN_DRAFT_H_
#define HAWSER_KERNELS_CPU_POINT_STEPS_CHAIN_DRAFT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kernels/cpu/chains/chain_writer.h"
#include "kernels/cpu/tile_steps/chain_step.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Invariant: a value is read or made, and every point that is one of them has
// the same lanes.
class ChainDraft {
 public:
  using PointId = plan::PointId;
  // Lanes of a slot, or one element of it for all lanes.
  struct Read {
    ChainOperand b;
    LaneSlot slot;
  };
  struct Value {
    std::vector<PointId> names;  // none: no point is made as it
    LaneSlot read;               // the slot of what is read
    int uses = 0;                // of its names, but by links
    LaneSlot lanes = {};         // of halves: where links read it
    bool is_read() const { return read.slot >= 0; }
  };

  // There is none.
  ChainDraft() = default;
  // Lanes of that shape, scope and width, made by a step of `to`.
  ChainDraft(LaneShape shape, int scope, int64_t width, TileSteps* to);

  // True if points of that kind can be links of it. `width` 0: any width.
  bool Fits(LaneShape shape, int scope, int64_t width,
            const TileSteps* to) const;
  bool Makes(PointId id) const {
    const ChainValue value = Find(id);
    return value >= 0 && !values_[value].names.empty();
  }
  // -1: the point is no value.
  ChainValue Find(PointId id) const {
    const auto found = value_of_.find(id);
    return found == value_of_.end() ? -1 : found->second;
  }

  // True if two different points are the same value.
  bool HasAsOne(absl::Span<const PointId> points) const;

  // Adds a prefetch of the next tile's lanes of the slot.
  void Prefetch(LaneSlot slot) { prefetched_.push_back(slot); }
  // The point's lanes or one element. Halves as lanes are widened by a link.
  ChainValue AddRead(PointId id, DType dtype, const Read& read);
  // `uses`: of the point, by all points.
  void AddIota(PointId id, DType dtype, LaneIndex index, int uses);
  void AddOp(PointId id, absl::Span<const ChainRow* const> rows,
             absl::Span<const ChainValue> operands, DType dtype, int uses);
  // Another name of what is made as `on`, which uses that once.
  void AddName(PointId on, PointId id, int uses);

  // Stores the values that not only links use. Called once.
  std::vector<WrittenLink> Write(const std::vector<bool>& is_stored);
  Value& value(ChainValue value) { return values_[value]; }
  const std::vector<LaneSlot>& prefetched() const { return prefetched_; }
  // In the order in which their links are written.
  std::vector<LaneIndex>& iotas() { return iotas_; }
  LaneShape shape() const { return shape_; }
  int scope() const { return scope_; }
  int64_t width() const { return width_; }
  TileSteps* to() const { return to_; }  // null: there is none

 private:
  void AddMade(PointId id, ChainValue value, int uses);

  LaneShape shape_ = LaneShape::kFull;
  int scope_ = -1;
  int64_t width_ = 0;
  TileSteps* to_ = nullptr;
  ChainWriter writer_;
  std::vector<Value> values_;  // the writer's
  absl::flat_hash_map<PointId, ChainValue> value_of_;
  std::vector<LaneSlot> prefetched_;
  std::vector<LaneIndex> iotas_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINT_STEPS_CHAIN_DRAFT_H_
