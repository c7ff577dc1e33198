// RunTiles: a TileProgram over memory, once or again and again.
#ifndef HAWSER_KERNELS_CPU_TILES_TILE_RUNNER_H_
#define HAWSER_KERNELS_CPU_TILES_TILE_RUNNER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// A short program that one thread runs again and again over the same memory, as
// in a loop: its tile is made ready once. Movable, not thread-safe.
class RepeatedTiles {
 public:
  // Operands and results as those of RunTiles, for all runs; `program` outlives
  // it. Errors: kResourceExhausted.
  static absl::StatusOr<RepeatedTiles> Make(const TileProgram& program,
                                            absl::Span<char* const> operands,
                                            absl::Span<char* const> results,
                                            const Environment& environment);
  RepeatedTiles();
  RepeatedTiles(RepeatedTiles&&);
  RepeatedTiles& operator=(RepeatedTiles&&);
  ~RepeatedTiles();

  // False for a program that is too long: RunTiles runs it.
  bool valid() const { return state_ != nullptr; }
  // Bits are those of RunTiles. Tells the meter what it does. Errors: the
  // meter's.
  absl::Status Run(WorkMeter& meter);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILES_TILE_RUNNER_H_
