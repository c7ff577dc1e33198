// FoldParts: partial results of reductions, in an order that sizes
// alone decide.
#ifndef HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_PARTS_H_
#define HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_PARTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kernels/cpu/folds/tiles/lane_folds.h"
#include "kernels/cpu/tile_steps/tile.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// The fold of one reduction. A result that is not wanted has no slot.
struct TileReduction {
  std::unique_ptr<const LaneFold> fold;
  std::vector<LaneSlot> initial;
  std::vector<LaneSlot> results;
};

// The iterations of the reduced loops, cut where partial results are set aside:
// rows: at each tile; columns: every few thousand rows. Immutable.
class FoldSegments {
 public:
  // `inner`: the reduced loops, of which the last may be that along y.
  FoldSegments(absl::Span<const TileLoop> inner, FoldWay way, LaneLoops lanes);

  int64_t count() const { return count_; }
  int64_t iterations() const { return iterations_; }
  // Iterations of the innermost reduced loop in one, where it is the only one.
  int64_t lanes() const { return lanes_; }
  // The first iteration of a segment; of number count(), how many there are.
  int64_t Begin(int64_t segment) const;

 private:
  const int64_t iterations_;
  int64_t count_ = 0;
  int64_t around_ = 1;  // iterations of the rows' loop
  int64_t an_iteration_ =
      0;                // segments of all of these; 0: they are one of several
  int64_t length_ = 1;  // iterations of a segment
  int64_t lanes_ = 1;
};

// The parts of one iteration of the kept loops: one for each segment and
// result. Tile::folds says where they are.
class FoldParts {
 public:
  // All outlive it.
  FoldParts(absl::Span<const TileReduction> reductions, FoldWay way,
            const FoldSegments& segments);

  // Makes `memory` hold the parts of the tile's results, of all passes; it is
  // kept for the next.
  void Place(Tile& tile, std::vector<double>& memory) const;
  // The next tiles fold into the parts of that segment; `all`: as Place left
  // it.
  void SetSegment(absl::Span<const TileFold> all, int64_t segment,
                  Tile& tile) const;
  // Gives the slots of those reductions what their parts come to.
  void Finish(absl::Span<const int> reductions, Tile& tile) const;

 private:
  // Lanes that are kept.
  int64_t Kept(const Tile& tile) const;
  int64_t PartsOf(const Tile& tile) const {
    return segments_.count() * Kept(tile);
  }

  const absl::Span<const TileReduction> reductions_;
  const FoldWay way_;
  const FoldSegments& segments_;
  absl::InlinedVector<int64_t, 4> part_bytes_;  // by reduction
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_PARTS_H_
