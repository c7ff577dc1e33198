#include "kernels/cpu/tiles/tile_program.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "kernels/cpu/points/point_shapes.h"
#include "kernels/cpu/tiles/loop_edges.h"
#include "kernels/cpu/tiles/tile_builder.h"

namespace hawser::cpu {
namespace {

// Slots of a tile: most of the nearest cache; of rows that stay for several
// passes, a part of the next one, so that the steps of a pass are done for some
// rows at a time; of one row alone, more of it.
constexpr int64_t kTileBytes = 20 << 10;
constexpr int64_t kRowsBytes = 128 << 10;
constexpr int64_t kRowBytes = 256 << 10;
constexpr int64_t kMostLanes = 8192, kFewestLanes = 256;
// Tiles of fewer lanes take longer by their steps' calls than slots that leave
// the nearest cache do.
constexpr int64_t kFewestOfTile = 1024;
// Slots and partial results of a tile whose lanes are folded tile by tile.
constexpr int64_t kFoldedTileBytes = 64 << 10;
// Slots, touched or not, and indices: what a thread keeps for them.
constexpr int64_t kTileRoom = 60 << 10;
// Lanes that chains and vectors of any width compute at a time.
constexpr int64_t kWholeLanes = 128;
// Lanes of a tile that is read along one loop and written along another, with
// whole lines on both sides, and the unit of its sides.
constexpr int64_t kFewestCrossing = 64 * 64, kMostCrossing = 128 * 128;
constexpr int64_t kSide = 32;
// Tiles of folds that read operands where they are, and nothing else: a tile
// takes some 0.1 us besides.
constexpr int64_t kMostLanesInPlace = 32768;
constexpr int64_t kFoldBlocksInPlace = 4;

// Steps for a byte to or from memory (measured: 16 to 22 GB/s a core of an
// Emerald Rapids); plan::CpuTarget says the same.
constexpr double kByteSteps = 0.05;
// Steps for an element, however small, that is read along one loop and written
// along another (measured: 0.2 to 0.6).
constexpr double kCrossingSteps = 0.2;

// `extent` in equal chunks of at most `most`.
int64_t EvenChunk(int64_t extent, int64_t most) {
  if (extent <= most) return std::max<int64_t>(extent, 1);
  const int64_t chunks = (extent + most - 1) / most;
  const int64_t lanes = most < kFewestLanes ? 16 : kWholeLanes;
  const int64_t chunk = (extent + chunks - 1) / chunks;
  return std::min(most, (chunk + lanes - 1) / lanes * lanes);
}

int64_t PowerOfTwoWithin(int64_t most) {
  int64_t power = 1;
  while (2 * power <= most) power *= 2;
  return power;
}

int64_t ExtentOf(const plan::Region& region, int loop) {
  return loop < 0 ? 1 : region.loops.extents[loop];
}

double IterationsOf(const plan::Region& region) {
  double iterations = 1;
  for (const int64_t extent : region.loops.extents) {
    iterations *= static_cast<double>(extent);
  }
  return iterations;
}

bool Crosses(const plan::Region& region, LaneLoops lanes) {
  return lanes.y >= 0 && lanes.x >= 0 &&
         std::any_of(region.accesses.begin(), region.accesses.end(),
                     [&](const plan::MemoryAccess& a) {
                       return a.operand >= 0 &&
                              a.offset.CoefficientOf(lanes.y) == 1 &&
                              a.offset.CoefficientOf(lanes.x) > 1;
                     });
}

// Elements that fill up whole lines and rows of blocks; at most `extent`.
int64_t Side(int64_t lanes, int64_t extent) {
  return std::clamp<int64_t>(std::max(lanes, kSide) / kSide * kSide, 1,
                             std::max<int64_t>(extent, 1));
}

// A tile that is about a square, or as long as the shorter extent lets it be.
void ChooseCrossingSizes(int64_t bytes_of_a_lane, int64_t along_y,
                         int64_t along_x, TileProgram* program) {
  const int64_t lanes =
      std::clamp(kTileBytes / std::max<int64_t>(bytes_of_a_lane, 1),
                 kFewestCrossing, kMostCrossing);
  const int64_t square = lanes < kMostCrossing ? 64 : 128;
  const int64_t shorter = std::clamp<int64_t>(along_y, 1, square);
  program->nx = Side(lanes / shorter, along_x);
  if (along_y >= square) program->nx = std::min(program->nx, square);
  program->ny = Side(lanes / program->nx, along_y);
}

// The memory of one more lane.
struct LaneRoom {
  int64_t bytes;    // with an index
  int64_t touched;  // of slots that steps share
};

// How many lanes a tile has that does not fold operands where they are.
int64_t LanesOf(LaneRoom lane, bool whole_rows) {
  const int64_t touched = std::max<int64_t>(lane.touched, 1);
  const int64_t lanes =
      whole_rows ? kRowsBytes / touched
                 : std::min(kTileBytes / touched, kTileRoom / lane.bytes);
  return std::clamp(lanes, whole_rows ? kFewestLanes : kFewestOfTile,
                    kMostLanes) /
         kWholeLanes * kWholeLanes;
}

// The same of tiles whose lanes have partial results, which stay for many
// steps.
int64_t LanesOfTiles(LaneRoom lane, const TileProgram& program) {
  int64_t bytes = lane.touched;
  for (const TileReduction& r : program.reductions) {
    bytes += r.fold->part_bytes();
  }
  return std::clamp(kFoldedTileBytes / bytes, kFewestLanes, kMostLanes) /
         kWholeLanes * kWholeLanes;
}

// How many rows and columns a tile has at most.
void ChooseSizes(const plan::Region& region, LaneRoom lane, bool whole_rows,
                 TileProgram* program) {
  const int64_t along_x = ExtentOf(region, program->lane_loops.x);
  const int64_t along_y = ExtentOf(region, program->lane_loops.y);
  const bool folds = !program->reductions.empty();
  const bool in_place = folds && lane.touched == 0;
  const int64_t lanes =
      in_place ? kMostLanesInPlace : LanesOf(lane, whole_rows);
  const int64_t block = in_place ? kFoldBlocksInPlace * kFoldBlock : kFoldBlock;
  if (program->way == FoldWay::kColumns) {
    // Wider ones where several are left, for threads.
    const int64_t most = std::clamp(along_x / 4, kFoldColumns / 2,
                                    kFoldColumns / (in_place ? 1 : 2));
    program->nx = EvenChunk(along_x, most);
    program->ny = PowerOfTwoWithin(std::min(
        std::clamp<int64_t>(lanes / program->nx, 1, kFoldRows), along_y));
  } else if (program->way == FoldWay::kTiles) {
    program->nx = EvenChunk(along_x, LanesOfTiles(lane, *program));
    program->ny = std::clamp<int64_t>(
        LanesOfTiles(lane, *program) / program->nx, 1, along_y);
    return;
  } else if (folds) {
    program->nx = whole_rows ? std::max<int64_t>(along_x, 1)
                             : std::clamp<int64_t>(along_x, 1, block);
  } else if (Crosses(region, program->lane_loops)) {
    return ChooseCrossingSizes(lane.touched, along_y, along_x, program);
  } else {
    program->nx = EvenChunk(along_x, lanes);
  }
  if (program->way != FoldWay::kColumns) {
    program->ny = std::clamp<int64_t>(lanes / program->nx, 1,
                                      std::max<int64_t>(along_y, 1));
  }
}

// Ends tiles at the edges of their loops, where they are no tiny ones.
void FindEdges(const plan::Region& region, TileProgram* program) {
  const int64_t tile = program->ny * program->nx;
  for (TileLoop& loop : program->outer) {
    const bool is_x = loop.loop == program->lane_loops.x;
    const bool is_y = loop.loop == program->lane_loops.y;
    const bool is_whole =
        is_x && loop.extent <= kWholeRow && program->reductions.empty();
    if ((!is_x && !is_y) || is_whole) continue;
    const LaneSpan inner = InnerIterations(region, loop.loop);
    const int64_t length = inner.end - inner.begin;
    if (tile / loop.chunk * std::min(length, loop.chunk) < kFewestLanes) {
      continue;
    }
    loop.inner = inner;
    const int64_t chunks = (length + loop.chunk - 1) / loop.chunk;
    loop.chunk = std::min(loop.chunk, (length + chunks - 1) / chunks);
  }
}

void ListLoops(const plan::Region& region, TileProgram* program) {
  for (int d = 0; d < program->num_loops; ++d) {
    const int64_t chunk = d == program->lane_loops.x   ? program->nx
                          : d == program->lane_loops.y ? program->ny
                                                       : 1;
    (d < region.num_kept_loops ? program->outer : program->inner)
        .push_back({d, region.loops.extents[d], chunk});
  }
}

// True if all that is folded into an element is one run of one tile.
bool FoldsWholeRuns(const TileProgram& program) {
  return program.way == FoldWay::kRows && program.inner.size() == 1 &&
         program.inner[0].chunks() == 1;
}

bool Has(FoldOrder order, const TileProgram& program) {
  return absl::c_any_of(program.reductions, [&](const TileReduction& r) {
    return r.fold->order() == order;
  });
}

}  // namespace

double StepsOf(const plan::Region& region) {
  const auto bytes =
      static_cast<double>(region.bytes_read + region.bytes_written);
  const double crossing = region.kind == plan::RegionKind::kTiledTranspose
                              ? IterationsOf(region) * kCrossingSteps
                              : 0;
  return std::max({region.lane_seconds * 1e9, bytes * kByteSteps, crossing});
}

absl::StatusOr<TileProgram> MakeTileProgram(const Module& module,
                                            const plan::Region& region,
                                            const TileOptions& options) {
  const bool by_rows = region.kind == plan::RegionKind::kRow;
  const int reduced_loops =
      static_cast<int>(region.loops.extents.size()) - region.num_kept_loops;
  bool resident = by_rows && region.stages > 1 && reduced_loops == 1;
  while (true) {
    TileBuilder builder(module, region, resident, options);
    HAWSER_ASSIGN_OR_RETURN(TileProgram program, builder.Build());
    const LaneRoom lane = {
        builder.slots().BytesOfALane() + static_cast<int64_t>(sizeof(int64_t)),
        builder.slots().TouchedBytesOfALane()};
    const int64_t row = ExtentOf(region, program.lane_loops.x);
    if (resident && row * lane.touched > kRowBytes) {
      resident = false;
      continue;
    }
    ChooseSizes(region, lane, resident, &program);
    ListLoops(region, &program);
    if (!options.boxes) FindEdges(region, &program);
    program.lane_steps = StepsOf(region) / std::max(IterationsOf(region), 1.0);
    if (options.strict && Has(FoldOrder::kOwn, program)) {
      return Unimplemented("a rounded fold of several ops, in strict numerics");
    }
    if (options.strict && Has(FoldOrder::kRow, program) &&
        !FoldsWholeRuns(program)) {
      return Unimplemented("a sum in parts, in strict numerics");
    }
    program.slots =
        builder.slots().Layout(program.ny, program.nx, &program.slot_bytes);
    return program;
  }
}

}  // namespace hawser::cpu
