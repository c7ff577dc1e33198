// Tile: a few thousand iterations of a region's loops, done together: one step
// after the other over all of them, in memory that the nearest cache holds.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_TILE_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_TILE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/base/values/shape.h"
#include "kernels/cpu/chains/chains.h"

namespace hawser::cpu {

// How many lanes a value has in a tile of ny rows of nx iterations: lane (j, i)
// is number j * nx + i of those of kFull.
enum class LaneShape : uint8_t {
  kOne,      // the same wherever the region is
  kRows,     // one for each j
  kColumns,  // one for each i
  kFull,
};

// The loops that the lanes of a tile run over; -1: one lane.
struct LaneLoops {
  int y = -1, x = -1;
};

// Lanes [begin, end) of a row, or iterations of a loop.
struct LaneSpan {
  int64_t begin = 0, end = 0;
};

// Which lanes a fold makes one.
enum class FoldWay : uint8_t {
  kRows,     // those of a row, along x
  kColumns,  // those of a column, along y
  kTiles,    // the same lane of tiles that follow each other
};

// A loop that tiles run over, at most `chunk` iterations at a time. Tiles also
// end where the edges do: iterations [inner.begin, inner.end) are whole tiles.
struct TileLoop {
  int loop = -1;  // of the region
  int64_t extent = 1;
  int64_t chunk = 1;
  int64_t begin = 0;
  LaneSpan inner = {};  // empty: there are no edges

  int64_t chunks() const { return InFront() + Inner() + ChunksOf(Behind()); }
  // The iterations of chunk number `k`.
  LaneSpan Chunk(int64_t k) const {
    LaneSpan part = {0, inner.begin};
    if (k >= InFront()) {
      k -= InFront();
      part = inner;
      if (k >= Inner()) {
        k -= Inner();
        part = {extent - Behind(), extent};
      }
    }
    const int64_t first = part.begin + k * chunk;
    return {begin + first, begin + std::min(first + chunk, part.end)};
  }

 private:
  int64_t ChunksOf(int64_t n) const { return (n + chunk - 1) / chunk; }
  int64_t InFront() const { return ChunksOf(inner.begin); }
  int64_t Inner() const { return ChunksOf(inner.end - inner.begin); }
  int64_t Behind() const { return extent - inner.end; }
};

// Iterations of all of the loops, a chunk of each at a time.
inline int64_t IterationsOf(absl::Span<const TileLoop> loops) {
  int64_t iterations = 1;
  for (const TileLoop& loop : loops) iterations *= loop.chunks();
  return iterations;
}

// An integer that indices depend on, for each lane of its shape.
struct TileSymbol {
  LaneShape shape = LaneShape::kOne;
  const int64_t* values = nullptr;
};

// The lanes of a tile in which a scope's predicates hold: kSomewhere they are a
// span of each row where `spans` is set, else those for which `lanes` is true.
struct TileScope {
  enum Holds : uint8_t { kEverywhere, kNowhere, kSomewhere };
  Holds holds = kEverywhere;
  const bool* lanes = nullptr;
  const LaneSpan* spans = nullptr;
  bool* room = nullptr;                // for `lanes`
  std::vector<LaneSpan> spans_memory;  // for `spans`
};

// The memory for a reduction's partial results.
struct TileFold {
  char* parts = nullptr;    // of the tile's first row, or of its columns
  int64_t parts_a_row = 1;  // from one row's to the next one's
  int64_t before = 0;       // columns: rows that were folded into them
};

// A worker's tile: its loops and the values of its slots. Not thread-safe: each
// worker has its own.
struct Tile {
  absl::Span<char*const> operands, results;  // memory of the region's
  std::vector<int64_t> loops;                // of the first lane
  LaneLoops lane_loops;
  int64_t ny = 1, nx = 1;
  std::vector<const char*> values;  // by slot: where its lanes are
  std::vector<char*> memory;        // by slot: its own
  std::vector<TileSymbol> symbols;
  std::vector<TileScope> scopes;
  std::vector<TileFold> folds;
  int64_t* indices = nullptr;    // room for one of each lane
  std::vector<ChainLink> links;  // of the step that runs

  // How many rows a shape has, and lanes of one.
  int64_t rows(LaneShape shape) const {
    return shape == LaneShape::kRows || shape == LaneShape::kFull ? ny : 1;
  }
  int64_t columns(LaneShape shape) const {
    return shape == LaneShape::kColumns || shape == LaneShape::kFull ? nx : 1;
  }
  int64_t lanes(LaneShape shape) const {
    switch (shape) {
      case LaneShape::kOne:
        return 1;
      case LaneShape::kRows:
        return ny;
      case LaneShape::kColumns:
        return nx;
      case LaneShape::kFull:
        break;
    }
    return ny * nx;
  }
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_TILE_H_
