#include "kernels/cpu/tiles/fold_parts.h"

#include "kernels/cpu/tile_steps/lane_moves.h"

namespace hawser::cpu {
namespace {

// Rows whose columns are folded one after the other.
constexpr int64_t kRowsOfASegment = 4096;
constexpr int64_t kWidestPart = 16;

}  // namespace

int64_t TurnsOf(const std::vector<TileLoop>& loops) {
  int64_t turns = 1;
  for (const TileLoop& loop : loops) turns *= loop.chunks();
  return turns;
}

FoldSegments::FoldSegments(const TileProgram& program)
    : turns_(TurnsOf(program.inner)) {
  if (!program.columns || program.lane_loops.y < 0 || turns_ == 0) {
    count_ = turns_;
    return;
  }
  const TileLoop& rows = program.inner.back();
  around_ = rows.chunks();
  if (rows.extent >= kRowsOfASegment) {
    a_turn_ = (rows.extent + kRowsOfASegment - 1) / kRowsOfASegment;
    length_ = kRowsOfASegment / rows.chunk;
    count_ = turns_ / around_ * a_turn_;
  } else {
    length_ = kRowsOfASegment / rows.extent * around_;
    count_ = (turns_ + length_ - 1) / length_;
  }
}

int64_t FoldSegments::Begin(int64_t segment) const {
  if (segment == count_) return turns_;
  if (a_turn_ == 0) return segment * length_;
  return segment / a_turn_ * around_ + segment % a_turn_ * length_;
}

void FoldParts::Place(Tile& tile, std::vector<double>& memory) const {
  int64_t bytes = 0;
  for (const TileReduction& reduction : program_.reductions) {
    bytes += PartsOf(tile) * PartBytes(reduction);
  }
  const auto words = static_cast<size_t>(bytes) / sizeof(double) + 1;
  if (memory.size() < words) memory.resize(words);
  char* at = reinterpret_cast<char*>(memory.data());
  // The widest first, so that each begins where it may.
  for (int64_t width = kWidestPart; width > 0; width /= 2) {
    for (size_t r = 0; r < program_.reductions.size(); ++r) {
      if (PartBytes(program_.reductions[r]) != width) continue;
      tile.folds[r] = {at, segments_.count(), true};
      at += PartsOf(tile) * width;
    }
  }
}

void FoldParts::SetSegment(const std::vector<TileFold>& all, int64_t segment,
                           Tile& tile) const {
  const int64_t at = program_.columns ? segment * tile.nx : segment;
  for (size_t r = 0; r < all.size(); ++r) {
    const int64_t width = PartBytes(program_.reductions[r]);
    tile.folds[r] = {all[r].parts + at * width, segments_.count(), true};
  }
}

void FoldParts::Finish(const TileProgram::Pass& pass, Tile& tile) const {
  const int64_t segments = segments_.count();
  for (const int r : pass.reductions) {
    const TileReduction& reduction = program_.reductions[r];
    const Reduction& monoid = *reduction.reduction;
    const char* const initial = tile.values[reduction.initial.slot];
    char* const result = tile.memory[reduction.result.slot];
    tile.values[reduction.result.slot] = result;
    const int64_t n = tile.lanes(reduction.result.shape);
    if (segments == 0) {
      LoadLanes(reduction.result.width, initial, {0, 0}, 1, n, result);
      continue;
    }
    char* const parts = tile.folds[r].parts;
    const int64_t width = PartBytes(reduction);
    if (segments > 1 && program_.columns) {
      monoid.parts.columns(parts, segments, n, n, parts);
    } else if (segments > 1) {
      // Row j's come to be in the place of part j, which is read by then.
      for (int64_t j = 0; j < n; ++j) {
        monoid.parts.run(parts + j * segments * width, segments,
                         parts + j * width);
      }
    }
    monoid.finish(initial, parts, n, result);
  }
}

}  // namespace hawser::cpu
