#include "kernels/cpu/tiles/tile_program.h"

#include <algorithm>

#include "core/base/status.h"
#include "kernels/cpu/tiles/tile_builder.h"

namespace hawser::cpu {
namespace {

// Slots of a tile: most of the nearest cache; of rows that stay for several
// passes, a part of the next one.
constexpr int64_t kTileBytes = 24 << 10;
constexpr int64_t kRowBytes = 256 << 10;
constexpr int64_t kMostLanes = 8192, kFewestLanes = 256;
// Both sides of a tile that is read along one loop and written along another.
constexpr int64_t kSquare = 64;

// `extent` in equal chunks of at most `most`.
int64_t EvenChunk(int64_t extent, int64_t most) {
  if (extent <= most) return std::max<int64_t>(extent, 1);
  const int64_t chunks = (extent + most - 1) / most;
  constexpr int64_t kLanes = 16;
  const int64_t chunk = (extent + chunks - 1) / chunks;
  return std::min(most, (chunk + kLanes - 1) / kLanes * kLanes);
}

int64_t PowerOfTwoWithin(int64_t most) {
  int64_t power = 1;
  while (2 * power <= most) power *= 2;
  return power;
}

int64_t ExtentOf(const plan::Region& region, int loop) {
  return loop < 0 ? 1 : region.loops.extents[loop];
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

// How many rows and columns a tile has at most.
void ChooseSizes(const plan::Region& region, int64_t bytes_of_a_lane,
                 bool whole_rows, TileProgram* program) {
  const int64_t along_x = ExtentOf(region, program->lane_loops.x);
  const int64_t along_y = ExtentOf(region, program->lane_loops.y);
  const int64_t lanes =
      std::clamp(kTileBytes / std::max<int64_t>(bytes_of_a_lane, 1),
                 kFewestLanes, kMostLanes);
  const bool folds = !program->reductions.empty();
  if (program->columns) {
    program->nx = EvenChunk(along_x, kFoldColumns / 2);
    program->ny = PowerOfTwoWithin(std::min(
        std::clamp<int64_t>(lanes / program->nx, 1, kFoldRows), along_y));
  } else if (folds) {
    program->nx = whole_rows ? std::max<int64_t>(along_x, 1)
                             : std::clamp<int64_t>(along_x, 1, kFoldBlock);
  } else if (Crosses(region, program->lane_loops)) {
    program->nx = std::clamp<int64_t>(along_x, 1, kSquare);
  } else {
    program->nx = EvenChunk(along_x, lanes);
  }
  if (!program->columns) {
    program->ny = std::clamp<int64_t>(lanes / program->nx, 1,
                                      std::max<int64_t>(along_y, 1));
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

}  // namespace

absl::StatusOr<TileProgram> MakeTileProgram(const Module& module,
                                            const plan::Region& region,
                                            Isa isa) {
  const bool by_rows = region.kind == plan::RegionKind::kRow;
  const int reduced_loops =
      static_cast<int>(region.loops.extents.size()) - region.num_kept_loops;
  bool resident = by_rows && region.stages > 1 && reduced_loops == 1;
  while (true) {
    TileBuilder builder(module, region, resident, isa);
    HAWSER_ASSIGN_OR_RETURN(TileProgram program, builder.Build());
    const int64_t bytes = builder.bytes_of_a_lane();
    const int64_t row = ExtentOf(region, program.lane_loops.x);
    if (resident && row * bytes > kRowBytes) {
      resident = false;
      continue;
    }
    ChooseSizes(region, bytes, resident, &program);
    ListLoops(region, &program);
    program.slots =
        builder.Layout(program.ny, program.nx, &program.slot_bytes);
    return program;
  }
}

}  // namespace hawser::cpu
