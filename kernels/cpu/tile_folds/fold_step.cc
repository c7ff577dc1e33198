#include "kernels/cpu/tile_folds/fold_step.h"

#include "absl/container/inlined_vector.h"

namespace hawser::cpu {

LaneRows FoldInput::Of(const Tile& tile) const {
  if (!index_.has_value()) return {tile.values[slot_], tile.nx};
  return {tile.operands[operand_] + index_->At(tile, 0, 0) * width_,
          index_->step_y()};
}

void FoldStep::Run(Tile& tile) const {
  const TileFold& fold = tile.folds[number_];
  absl::InlinedVector<LaneRows, 2> in;
  for (const FoldInput& input : inputs_) in.push_back(input.Of(tile));
  if (columns_) {
    fold_.Columns(in, tile.ny, tile.nx, fold.before, fold.parts);
  } else {
    fold_.Rows(in, tile.ny, tile.nx, fold.parts, fold.parts_a_row);
  }
}

}  // namespace hawser::cpu
