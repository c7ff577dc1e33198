// FoldStep: lanes of a tile folded.
#ifndef HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_STEP_H_
#define HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_STEP_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/folds/tiles/lane_folds.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// The lanes that are folded: a slot, kFull, or an operand's elements where they
// are.
class FoldInput {
 public:
  explicit FoldInput(LaneSlot slot) : slot_(slot.slot), width_(slot.width) {}
  // `index` grows by 1 along x and by any step along y.
  FoldInput(int operand, LaneIndex index, int64_t width)
      : operand_(operand), index_(std::move(index)), width_(width) {}
  LaneRows Of(const Tile& tile) const;
  int slot() const { return slot_; }  // -1: the operand's
  int64_t width() const { return width_; }

 private:
  int slot_ = -1;
  int operand_ = -1;
  std::optional<LaneIndex> index_;
  int64_t width_ = 0;
};

// Calls fn(begin, size) for blocks of n lanes that are folded side by side.
// Each has parts of its own.
template <typename Fn>
void ForFoldBlocks(int64_t n, Fn fn) {
  for (int64_t begin = 0; begin < n; begin += kFoldColumns) {
    fn(begin, std::min(kFoldColumns, n - begin));
  }
}

// Folds of a pass of a reduction.
class FoldStep final : public TileStep {
 public:
  // `number`: of Tile::folds. `fold` outlives the step.
  FoldStep(int number, const LaneFold& fold, FoldWay way,
           std::vector<FoldInput> inputs)
      : TileStep(-1),
        number_(number),
        fold_(fold),
        way_(way),
        inputs_(std::move(inputs)) {}

 private:
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override {}
  void FoldTile(const Tile& tile, absl::InlinedVector<LaneRows, 2> in) const;

  const int number_;
  const LaneFold& fold_;
  const FoldWay way_;
  const std::vector<FoldInput> inputs_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_TILES_FOLD_STEP_H_
