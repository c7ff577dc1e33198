// RunTiles: a TileProgram over memory.
#ifndef HAWSER_KERNELS_CPU_TILES_TILE_RUNNER_H_
#define HAWSER_KERNELS_CPU_TILES_TILE_RUNNER_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tiles/tile_program.h"

namespace hawser::cpu {

// Iterations of a loop.
struct LoopRange {
  int64_t begin = 0, size = 1;
};

// On this thread and idle ones of the environment's pool. Bits depend on
// neither. A result may be the memory of an operand where the plan says so.
// `box`: the iterations of each loop, of a program made for that, whose region
// folds nothing; empty: all. Errors: the cancel token's, after which results
// hold anything.
absl::Status RunTiles(const TileProgram& program,
                      absl::Span<char* const> operands,
                      absl::Span<char* const> results,
                      const Environment& environment,
                      absl::Span<const LoopRange> box = {});

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILES_TILE_RUNNER_H_
