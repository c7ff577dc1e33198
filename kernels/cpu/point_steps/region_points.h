// RegionPoints: what the steps of a program are made from.
#ifndef HAWSER_KERNELS_CPU_POINT_STEPS_REGION_POINTS_H_
#define HAWSER_KERNELS_CPU_POINT_STEPS_REGION_POINTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "kernels/cpu/folds/tiles/fold_step.h"
#include "kernels/cpu/points/point_shapes.h"
#include "kernels/cpu/tile_steps/lane_moves.h"
#include "kernels/cpu/tile_steps/tile_options.h"
#include "kernels/cpu/tile_steps/tile_step.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// A region, what its points are, and the options that its steps follow.
// Immutable: every answer depends on the region and the options alone.
class RegionPoints {
 public:
  using PointId = plan::PointId;

  // Both outlive it.
  RegionPoints(const Module& module, const plan::Region& region,
               const TileOptions& options);

  const Module& module() const { return module_; }
  const plan::Region& region() const { return region_; }
  const Computation& body() const { return body_; }
  const TileOptions& options() const { return options_; }
  const PointShapes& shapes() const { return shapes_; }
  LaneLoops lanes() const { return lanes_; }
  FoldWay way() const { return way_; }  // of reductions
  // True if a result may be the point's own lanes.
  const std::vector<bool>& is_stored() const { return is_stored_; }

  size_t size() const { return region_.points.size(); }
  const plan::Point& point(PointId id) const { return region_.points[id]; }
  // For a point of kOp or kReduce.
  const Instruction& instruction(PointId id) const {
    return body_.instructions()[point(id).instruction];
  }
  LaneShape shape(PointId id) const { return shapes_.shape(id); }
  PointShapes::When when(PointId id) const { return shapes_.when(id); }
  const Shape& array(PointId id) const { return body_.shape(point(id).value); }
  DType dtype(PointId id) const { return array(id).dtype(); }
  int64_t width(PointId id) const { return ByteWidth(dtype(id)); }

  // The extent of the loop along x.
  int64_t extent_of_x() const { return region_.loops.extents[lanes_.x]; }
  LaneMoves MovesOf(LaneSlot slot) const {
    return LaneMoves(slot.width, options_.isa);
  }
  const plan::MemoryAccess& AccessOf(PointId load) const;
  // The operand's elements, if they may be folded where they are.
  std::optional<FoldInput> InPlace(PointId id) const;
  // True if another result may be stored over the load's operand before its own
  // lanes are.
  bool MayBeWrittenOver(PointId load, int operand) const;
  // The bytes of a result of the region's instruction.
  int64_t BytesOfResult(int result) const;

 private:
  const Module& module_;
  const plan::Region& region_;
  const Computation& body_;
  const TileOptions options_;
  const FoldWay way_;
  const LaneLoops lanes_;
  const PointShapes shapes_;
  const std::vector<bool> is_stored_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINT_STEPS_REGION_POINTS_H_
