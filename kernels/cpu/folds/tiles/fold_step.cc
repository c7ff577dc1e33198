#include "kernels/cpu/folds/tiles/fold_step.h"

#include <utility>

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
  switch (way_) {
    case FoldWay::kRows:
      return fold_.Rows(in, tile.ny, tile.nx, fold.parts, fold.parts_a_row);
    case FoldWay::kColumns:
      return fold_.Columns(in, tile.ny, tile.nx, fold.before, fold.parts);
    case FoldWay::kTiles:
      return FoldTile(tile, std::move(in));
  }
}

void FoldStep::FoldTile(const Tile& tile,
                        absl::InlinedVector<LaneRows, 2> in) const {
  const TileFold& fold = tile.folds[number_];
  ForFoldBlocks(tile.ny * tile.nx, [&](int64_t begin, int64_t size) {
    fold_.Columns(in, 1, size, fold.before,
                  fold.parts + begin * fold_.part_bytes());
    for (size_t k = 0; k < in.size(); ++k) {
      in[k].first += size * inputs_[k].width();
    }
  });
}

}  // namespace hawser::cpu
