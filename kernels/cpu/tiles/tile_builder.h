// TileBuilder: makes the lists of steps of a TileProgram.
#ifndef HAWSER_KERNELS_CPU_TILES_TILE_BUILDER_H_
#define HAWSER_KERNELS_CPU_TILES_TILE_BUILDER_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/cpu/point_steps/point_slots.h"
#include "kernels/cpu/point_steps/region_points.h"
#include "kernels/cpu/point_steps/step_builder.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Decides which points each list computes, and adds folds and stores.
// Invariant: lists are made in the order in which they first run. Used once.
class TileBuilder {
 public:
  // `resident`: what a pass computes stays for those behind it, as a tile holds
  // whole rows. Both outlive the builder.
  TileBuilder(const Module& module, const plan::Region& region, bool resident,
              const TileOptions& options)
      : points_(module, region, options),
        slots_(points_),
        steps_(points_, &slots_),
        resident_(resident) {}

  absl::StatusOr<TileProgram> Build();
  // After Build.
  SlotPlan& slots() { return slots_.plan(); }

 private:
  using Points = std::vector<plan::PointId>;
  // The points of the results of a reducing instruction; -1: a result that is
  // not wanted.
  struct ResultPoints {
    plan::PointId any;  // one of them: they fold the same
    Points of_result;
  };

  absl::Status FindReductions();
  // The values that a reduction folds, which follow its initial values.
  absl::Span<const plan::PointId> InputsOf(size_t reduction) const;
  absl::Status AddPass(int stage);
  // The lists of a pass, for each tile and after all of them.
  absl::Status AddTile(int stage, TileProgram::Pass* pass);
  absl::Status AddAfter(int stage, TileProgram::Pass* pass);
  void AddFold(size_t reduction, TileSteps* to);
  void FinishReduction(size_t number, TileSteps* to);
  // Points of a list, with all that they need of the same kind, ascending.
  Points Closure(const Points& roots) const;
  // Which results are stored at the end of that list, and their steps.
  std::vector<int> StoresOf(bool per_result) const;
  void AddStores(const std::vector<int>& results, TileSteps* to);
  // Of lanes that reductions leave.
  LaneShape ShapeOfResults() const;
  bool IsLast(int stage) const { return stage + 1 == points_.region().stages; }

  const RegionPoints points_;
  PointSlots slots_;
  StepBuilder steps_;
  const bool resident_;
  TileProgram program_;
  std::vector<ResultPoints> reductions_;  // for each of program_.reductions
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILES_TILE_BUILDER_H_
