// TileProgram: a region as steps over tiles of its loops.
#ifndef HAWSER_KERNELS_CPU_TILES_TILE_PROGRAM_H_
#define HAWSER_KERNELS_CPU_TILES_TILE_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/cpu/folds/tiles/fold_parts.h"
#include "kernels/cpu/tile_steps/tile.h"
#include "kernels/cpu/tile_steps/tile_options.h"
#include "kernels/cpu/tile_steps/tile_step.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Immutable and thread-safe. Tiles at the same iterations of `outer` are one
// after the other: a pass for each stage of the region runs over all iterations
// of `inner` (loops that are reduced), and leaves its reductions' results.
struct TileProgram {
  struct Pass {
    TileSteps tile;               // for each tile
    std::vector<int> reductions;  // what it folds
    TileSteps after;              // once they have their results
  };

  int num_loops = 0;
  LaneLoops lane_loops;
  std::vector<TileLoop> outer, inner;
  TileSteps once;    // for each worker
  TileSteps before;  // for each iteration of `outer`
  std::vector<Pass> passes;
  std::vector<TileReduction> reductions;
  FoldWay way = FoldWay::kRows;  // of reductions
  int64_t ny = 1, nx = 1;        // of the largest tile
  std::vector<int64_t> slots;    // offsets in a worker's memory
  int64_t slot_bytes = 0;
  int num_symbols = 0, num_scopes = 0;
  double lane_steps =
      0;  // for each iteration of the region's loops, all passes
};

// About how many steps a region takes on one thread.
double StepsOf(const plan::Region& region);

// Errors: kUnimplemented, a region that tiles do not compute.
absl::StatusOr<TileProgram> MakeTileProgram(const Module& module,
                                            const plan::Region& region,
                                            const TileOptions& options = {});

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILES_TILE_PROGRAM_H_
