// LaneIndex: an integer of the plan for each lane of a tile.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_LANE_INDEX_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_LANE_INDEX_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kernels/cpu/tile_steps/tile.h"
#include "kernels/plan/index/index_expr.h"

namespace hawser::cpu {

// Immutable and thread-safe.
class LaneIndex {
 public:
  // `symbols`: the shapes of the region's.
  LaneIndex(plan::IndexExpr index, LaneLoops loops,
            absl::Span<const LaneShape> symbols);

  // It grows by step_x() from each lane of a row to the next.
  bool steps_along_x() const { return along_x_; }
  // The same from row to row.
  bool steps_along_y() const { return along_y_; }
  int64_t step_x() const { return step_x_; }
  int64_t step_y() const { return step_y_; }

  // True if the tile's place alone says what it is.
  bool is_fixed() const { return fixed_; }

  // The index of lane (j, i).
  int64_t At(const Tile& tile, int64_t j, int64_t i) const {
    return Value(index_, tile, j, i);
  }
  // Writes the index of each lane of a shape.
  void All(const Tile& tile, LaneShape shape, int64_t* out) const;
  // Writes the index of the first lane of each row.
  void Rows(const Tile& tile, int64_t* out) const;
  // Its least and its largest value in the tile; it steps along both.
  plan::Bounds Range(const Tile& tile) const;

 private:
  static int64_t Value(const plan::IndexExpr& e, const Tile& tile, int64_t j,
                       int64_t i);
  // Lanes (j, i), (j + down, i + along), ... `n` of them.
  struct Lanes {
    int64_t j, i;
    int64_t down, along;
    int64_t n;
  };
  static void Run(const plan::IndexExpr& e, const Tile& tile,
                  const Lanes& lanes, int64_t* out);

  plan::IndexExpr index_;
  bool along_x_, along_y_;
  bool fixed_;
  int64_t step_x_, step_y_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_LANE_INDEX_H_
