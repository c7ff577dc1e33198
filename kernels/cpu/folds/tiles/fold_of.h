// FoldOf: the fold of a reduction of a region.
#ifndef HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_OF_H_
#define HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_OF_H_

#include <memory>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/cpu/folds/tiles/lane_folds.h"
#include "kernels/cpu/points/point_shapes.h"
#include "kernels/cpu/tile_steps/tile_options.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// `reduce`: a point of kReduce. Errors: kUnimplemented, tiles have no such
// fold.
absl::StatusOr<std::unique_ptr<const LaneFold>> FoldOf(
    const Module& module, const plan::Region& region, plan::PointId reduce,
    const PointShapes& shapes, const TileOptions& options);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_OF_H_
