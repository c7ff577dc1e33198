// LaneMoves: elements of memory as lanes of a tile, and back.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_LANE_MOVES_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_LANE_MOVES_H_

#include <cstdint>

#include "kernels/cpu/lanes/moves.h"

namespace hawser::cpu {

// Lane (j, i) is element j * y + i * x.
struct LaneSteps {
  int64_t y = 0, x = 0;
};

// Moves elements of one width, in a set of instructions. Lanes lie next to each
// other in memory of their own; elements where the steps or indices say.
// Immutable and thread-safe.
class LaneMoves {
 public:
  LaneMoves(int64_t width, Isa isa)
      : width_(width), loops_(FindMoves(width, isa)) {}

  void Load(const char* elements, LaneSteps steps, int64_t ny, int64_t nx,
            char* lanes) const;
  void Store(const char* lanes, LaneSteps steps, int64_t ny, int64_t nx,
             char* elements) const;
  // The same past the caches, where lanes of a row are neighbours.
  void Stream(const char* lanes, LaneSteps steps, int64_t ny, int64_t nx,
              char* elements) const;
  // Row j is at element rows[j], with steps of `step`.
  void GatherRows(const char* elements, const int64_t* rows, int64_t step,
                  int64_t ny, int64_t nx, char* lanes) const;
  // Lanes for which `holds` is false are not read, and become 0.
  void Gather(const char* elements, const int64_t* indices, const bool* holds,
              int64_t n, char* lanes) const;
  void Scatter(const char* lanes, const int64_t* indices, int64_t n,
               char* elements) const;
  // lanes[k] = from[k] where it holds; the others stay.
  void Blend(const char* from, const bool* holds, int64_t n, char* lanes) const;

 private:
  const int64_t width_;
  const MoveLoops* const loops_;  // null: plain ones
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_LANE_MOVES_H_
