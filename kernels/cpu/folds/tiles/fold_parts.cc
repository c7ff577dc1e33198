#include "kernels/cpu/folds/tiles/fold_parts.h"

#include "kernels/cpu/folds/tiles/fold_step.h"
#include "kernels/cpu/tile_steps/lane_moves.h"

namespace hawser::cpu {
namespace {

// Rows whose columns are folded one after the other.
constexpr int64_t kRowsOfASegment = 4096;

}  // namespace

FoldSegments::FoldSegments(absl::Span<const TileLoop> inner, FoldWay way,
                           LaneLoops lanes)
    : iterations_(IterationsOf(inner)) {
  const bool along_y = way == FoldWay::kColumns && lanes.y >= 0;
  if (way == FoldWay::kTiles && iterations_ > 0) {
    count_ = 1;
    length_ = lanes_ = iterations_;
    return;
  }
  if (!along_y || iterations_ == 0) {
    count_ = iterations_;
    if (!inner.empty()) lanes_ = inner.back().chunk;
    return;
  }
  lanes_ = kRowsOfASegment;
  const TileLoop& rows = inner.back();
  around_ = rows.chunks();
  if (rows.extent >= kRowsOfASegment) {
    an_iteration_ = (rows.extent + kRowsOfASegment - 1) / kRowsOfASegment;
    length_ = kRowsOfASegment / rows.chunk;
    count_ = iterations_ / around_ * an_iteration_;
  } else {
    length_ = kRowsOfASegment / rows.extent * around_;
    count_ = (iterations_ + length_ - 1) / length_;
  }
}

int64_t FoldSegments::Begin(int64_t segment) const {
  if (segment == count_) return iterations_;
  if (an_iteration_ == 0) return segment * length_;
  return segment / an_iteration_ * around_ + segment % an_iteration_ * length_;
}

FoldParts::FoldParts(absl::Span<const TileReduction> reductions, FoldWay way,
                     const FoldSegments& segments)
    : reductions_(reductions), way_(way), segments_(segments) {
  for (const TileReduction& reduction : reductions) {
    part_bytes_.push_back(reduction.fold->part_bytes());
  }
}

int64_t FoldParts::Kept(const Tile& tile) const {
  switch (way_) {
    case FoldWay::kRows:
      return tile.ny;
    case FoldWay::kColumns:
      return tile.nx;
    case FoldWay::kTiles:
      break;
  }
  return tile.ny * tile.nx;
}

void FoldParts::Place(Tile& tile, std::vector<double>& memory) const {
  constexpr auto kWord = static_cast<int64_t>(sizeof(double));
  const int64_t parts = PartsOf(tile);
  int64_t words = 0;
  for (const int64_t bytes : part_bytes_) {
    words += (parts * bytes + kWord - 1) / kWord;
  }
  if (static_cast<int64_t>(memory.size()) < words) memory.resize(words);
  double* at = memory.data();
  for (size_t r = 0; r < part_bytes_.size(); ++r) {
    tile.folds[r] = {reinterpret_cast<char*>(at), segments_.count()};
    at += (parts * part_bytes_[r] + kWord - 1) / kWord;
  }
}

void FoldParts::SetSegment(absl::Span<const TileFold> all, int64_t segment,
                           Tile& tile) const {
  const int64_t at = way_ == FoldWay::kRows ? segment : segment * Kept(tile);
  for (size_t r = 0; r < all.size(); ++r) {
    tile.folds[r] = {all[r].parts + at * part_bytes_[r], segments_.count()};
  }
}

void FoldParts::Finish(absl::Span<const int> reductions, Tile& tile) const {
  for (const int r : reductions) {
    const TileReduction& reduction = reductions_[r];
    absl::InlinedVector<const char*, 2> initial;
    absl::InlinedVector<char*, 2> results;
    for (const LaneSlot& slot : reduction.initial) {
      initial.push_back(tile.values[slot.slot]);
    }
    for (const LaneSlot& slot : reduction.results) {
      results.push_back(slot.slot < 0 ? nullptr : tile.memory[slot.slot]);
      if (slot.slot >= 0) tile.values[slot.slot] = results.back();
    }
    const int64_t n = Kept(tile);
    if (segments_.count() == 0) {
      for (size_t k = 0; k < results.size(); ++k) {
        if (results[k] == nullptr) continue;
        LaneMoves(reduction.results[k].width, Isa::kBase)
            .Load(initial[k], {0, 0}, 1, n, results[k]);
      }
      continue;
    }
    LaneParts parts = {.parts = tile.folds[r].parts,
                       .segments = segments_.count(),
                       .n = n,
                       .columns = way_ != FoldWay::kRows,
                       .iterations = segments_.lanes()};
    if (way_ != FoldWay::kTiles) {
      reduction.fold->Finish(parts, initial, results);
      continue;
    }
    ForFoldBlocks(n, [&](int64_t begin, int64_t size) {
      parts.parts = tile.folds[r].parts + begin * part_bytes_[r];
      parts.n = size;
      reduction.fold->Finish(parts, initial, results);
      for (size_t k = 0; k < results.size(); ++k) {
        if (results[k] != nullptr) {
          results[k] += size * reduction.results[k].width;
        }
      }
    });
  }
}

}  // namespace hawser::cpu
