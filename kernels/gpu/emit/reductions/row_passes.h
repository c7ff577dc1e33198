// RowPasses: how the rows of a kRow region are dealt out to lanes, and what
// each pass over a row computes and leaves in registers.
#ifndef HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_ROW_PASSES_H_
#define HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_ROW_PASSES_H_

#include <cstdint>
#include <vector>

#include "kernels/gpu/emit/points/kernel_maps.h"
#include "kernels/gpu/emit/reductions/folds.h"

namespace hawser::gpu {

// A row is a block's, or that of some lanes of a warp: `lanes` is a power of
// two that divides `threads`.
struct RowShape {
  int64_t rows, elements;  // of a row
  int64_t width, units;    // whole vectors of a row, of `width` elements
  bool is_block;
  int64_t lanes, threads;       // of a row, of a block
  int64_t rows_at_once, turns;  // of a block, of a lane
};
RowShape ShapeOfRows(const plan::Region& region, const EmitOptions& options);

// The work of one pass over a row.
struct RowPass {
  std::vector<const Fold*> folds;
  std::vector<int> results;           // stored per turn, by the last pass
  std::vector<plan::PointId> roots;   // what the pass needs
  std::vector<plan::PointId> leaves;  // what later passes take from it
};

struct RowPasses {
  std::vector<RowPass> passes;  // one for each stage of the region
  // True if `leaves` stay in registers. If false, each pass loads and computes
  // what it needs, and no pass has leaves.
  bool stays = false;
};
// `folds` outlive the result. `maps` are the region's.
RowPasses PlanRowPasses(const RegionSource& source, const KernelMaps& maps,
                        const RowShape& shape, absl::Span<const Fold> folds);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_ROW_PASSES_H_
