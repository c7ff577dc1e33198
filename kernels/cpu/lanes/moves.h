// FindMoves: elements moved between rows, columns and lanes, in the
// instructions of this machine.
#ifndef HAWSER_KERNELS_CPU_LANES_MOVES_H_
#define HAWSER_KERNELS_CPU_LANES_MOVES_H_

#include <cstdint>

#include "kernels/cpu/lanes/lanes.h"

namespace hawser::cpu {

// Loops for elements of one width. Pitches and steps are in elements; what is
// read and what is written do not overlap.
struct MoveLoops {
  // to[j * to_pitch + i] = from[i * pitch + j] for j < ny, i < nx.
  void (*across)(const char* from, int64_t pitch, int64_t ny, int64_t nx,
                 char* to, int64_t to_pitch);
  // to[i] = from[i * step] for i < n.
  void (*strided)(const char* from, int64_t step, int64_t n, char* to);
  // to[j * to_pitch + i] = from[j * nx + i], past the caches: for what is
  // larger than they are. Other threads see it as they see any store.
  void (*stream)(const char* from, int64_t ny, int64_t nx, char* to,
                 int64_t to_pitch);
};

// Null: nothing is written here for this set of instructions.
const MoveLoops* FindMoves(int64_t width, Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_MOVES_H_
