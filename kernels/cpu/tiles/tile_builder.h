// TileBuilder: makes the steps of a TileProgram.
#ifndef HAWSER_KERNELS_CPU_TILES_TILE_BUILDER_H_
#define HAWSER_KERNELS_CPU_TILES_TILE_BUILDER_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/cpu/chains/chain_rows.h"
#include "kernels/cpu/points/point_shapes.h"
#include "kernels/cpu/points/rotates.h"
#include "kernels/cpu/tile_steps/fold_step.h"
#include "kernels/cpu/tiles/chain_draft.h"
#include "kernels/cpu/tiles/slot_plan.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Invariant: steps are made in the order in which they first run, each behind
// those whose slots it uses. Used once.
class TileBuilder {
 public:
  // `resident`: what a pass computes stays for those behind it, as a tile holds
  // whole rows. Both outlive the builder.
  TileBuilder(const Module& module, const plan::Region& region, bool resident,
              const TileOptions& options);

  absl::StatusOr<TileProgram> Build();
  // After Build.
  SlotPlan& slots() { return slots_; }

 private:
  using Point = plan::Point;
  using Points = std::vector<plan::PointId>;
  static constexpr int kShapes = 4;  // LaneShape's

  absl::Status FindReductions();
  // The values that a reduction folds, which follow its initial values.
  absl::Span<const plan::PointId> InputsOf(size_t reduction) const;
  // The operand's elements, if they may be folded where they are.
  std::optional<FoldInput> InPlace(plan::PointId id) const;
  void AddFold(size_t reduction, TileSteps* to);
  absl::Status AddPass(int stage);
  void FinishReduction(size_t number, TileSteps* to);
  // Points of a list, with all that they need of the same kind, ascending.
  Points Closure(const Points& roots) const;
  absl::Status AddPoints(const Points& points, TileSteps* to);
  absl::Status AddPoint(plan::PointId id, TileSteps* to);
  absl::Status AddOp(plan::PointId id, TileSteps* to);
  // Chains, in tile_chains.cc. Adds an op to the draft, or begins one with it,
  // if a chain can do it.
  bool AddLink(plan::PointId id, TileSteps* to);
  // The point's operands; a rotate's are those of its shifts.
  absl::Span<const plan::PointId> OperandsOf(plan::PointId id) const;
  using Rows = absl::InlinedVector<const ChainRow*, 2>;
  // The rows that the op can be a link by; none: it cannot.
  Rows RowsOf(plan::PointId id) const;
  // How wide a chain's lanes are for them; 0: of what a draft has.
  int64_t WidthFor(const ChainRow& row, plan::PointId id) const;
  // True if chains have the links for an op on halves.
  bool HasHalves(plan::PointId id) const;
  // How an op on lanes of `shape` reads a point: in as few lanes as there are.
  ChainStep::Link LinkTo(plan::PointId other, LaneShape shape, TileSteps* to);
  // The draft's value for an operand, which it reads unless it made it.
  ChainValue Read(plan::PointId id, TileSteps* to);
  // The point's halves in its own shape, as f32.
  LaneSlot Widened(plan::PointId id, TileSteps* to);
  // Adds prefetches of the lanes that the next tile reads first to the draft,
  // once.
  void AddPrefetches();
  // Adds indices that grow by 1 from lane to lane.
  bool AddIota(plan::PointId id, int scope, TileSteps* to);
  // Makes `id` another name of what the draft makes; false: it does not.
  bool Passes(plan::PointId on, plan::PointId id, TileSteps* to);
  // A draft without links, in place of the one that there is.
  void BeginDraft(LaneShape shape, int scope, int64_t width, TileSteps* to);
  // Makes the draft a step, if there is one.
  void EndDraft();
  // The slot or count of a link on such a value.
  void FindSlot(const WrittenLink& written, ChainDraft* draft,
                ChainStep::Link* link);
  void AddLoad(plan::PointId id, TileSteps* to);
  void AddChoice(plan::PointId id, TileSteps* to);
  absl::Status AddSymbols(plan::PointId id, TileSteps* to);
  // Which results are stored at the end of that list, and their steps.
  std::vector<int> StoresOf(bool per_result) const;
  void AddStores(const std::vector<int>& results, TileSteps* to);

  // The point's lanes in that shape. Points that are the same everywhere are
  // expanded once.
  LaneSlot As(plan::PointId id, LaneShape shape, TileSteps* to);
  // The number of the scope for lanes of that shape, looked at before.
  int AddScope(plan::ScopeId scope, LaneShape shape, TileSteps* to);
  // The scope number of the point; -1: it is always computed.
  int ScopeOf(plan::PointId id, LaneShape shape, TileSteps* to);
  LaneIndex IndexOf(const plan::IndexExpr& index);
  LaneMoves MovesOf(LaneSlot slot) const {
    return LaneMoves(slot.width, options_.isa);
  }
  LaneSlot Define(plan::PointId id, bool over);
  void Add(std::unique_ptr<ValueStep> step, TileSteps* to);
  void AddMaker(OutputSlot* output, const TileSteps* to);
  // True if another result may be stored over the load's operand before its own
  // lanes are.
  bool MayBeWrittenOver(plan::PointId load, int operand) const;
  // True if no step after the one that fills the slot loads memory that may be
  // the result's.
  bool MayStoreEarly(int slot, int result) const;
  const plan::MemoryAccess& AccessOf(plan::PointId load) const;

  LaneSlot& SlotOf(plan::PointId id, LaneShape shape) {
    return slots_of_[kShapes * id + static_cast<int>(shape)];
  }
  bool IsThere(plan::PointId id, LaneShape shape) const {
    return slots_of_[kShapes * id + static_cast<int>(shape)].slot >= 0;
  }
  int& NumberOf(plan::ScopeId scope, LaneShape shape) {
    return scopes_[kShapes * scope + static_cast<int>(shape)];
  }
  void ForgetScopes() { scopes_.assign(scopes_.size(), -1); }

  DType DTypeOf(plan::PointId id) const {
    return body_.shape(region_.points[id].value).dtype();
  }
  int64_t WidthOf(plan::PointId id) const { return ByteWidth(DTypeOf(id)); }

  const Module& module_;
  const plan::Region& region_;
  const Computation& body_;
  const bool columns_, resident_;
  const TileOptions options_;
  const LaneLoops lanes_;
  const PointShapes shapes_;
  SlotPlan slots_;
  TileProgram program_;
  // Slots of the lists so far; passes that compute rows anew begin with none.
  std::vector<LaneSlot> slots_of_;  // by point and shape; number -1: none
  std::vector<int> scopes_;         // of this list, by scope and shape; or -1
  std::vector<int> symbol_slots_;   // by symbol
  std::vector<int> uses_;           // by point
  // Rotates of tiles' lanes, if there are chains; their shifts become no steps.
  absl::flat_hash_map<plan::PointId, Rotate> rotates_;
  absl::flat_hash_map<plan::PointId, LaneSlot> widened_;  // once
  std::vector<bool> is_stored_;                           // by point
  // In the last one of the passes that rows stay for: of those, the first waits
  // for memory alone.
  bool prefetches_ = false;
  ChainDraft draft_;
  // For each of program_.reductions: the points of an instruction's results;
  // -1: a result that is not wanted.
  struct ResultPoints {
    plan::PointId any;  // one of them: they fold the same
    Points of_result;
  };
  std::vector<ResultPoints> reduction_points_;
  std::vector<OutputSlot*> makers_;  // of this list
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILES_TILE_BUILDER_H_
