// PlannedRun: the steps of one run of a PlannedProgram.
#ifndef HAWSER_KERNELS_CPU_PLANNED_PLANNED_RUN_H_
#define HAWSER_KERNELS_CPU_PLANNED_PLANNED_RUN_H_

#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/planned/planned_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/steps/steps.h"

namespace hawser::cpu {

// An iteration of a loop takes about as long as so many elements, however small
// its values.
inline constexpr double kIterationSteps = 256;
inline double CopySteps(const plan::CopyStep& step) {
  return static_cast<double>(step.to.bytes) / 8;
}

// Used by the thread that runs it.
class PlannedRun {
 public:
  // `bases`: the addresses that slots count from. All else outlives it.
  PlannedRun(const std::vector<Work>& works, const CpuProgram& rows,
             const Module& module, std::vector<char*> bases,
             const Environment& environment)
      : works_(works),
        rows_(rows),
        module_(module),
        bases_(std::move(bases)),
        environment_(environment),
        meter_(environment) {}

  // Runs all of a program's steps. Errors: of a row, behind the name of its
  // instruction; the token's.
  absl::Status RunAll(const plan::Steps& steps);

 private:
  // It counts how often a work of tiles ran since the first loop began, and has
  // its tiles once that is often.
  struct Repeats {
    int runs = 0;
    RepeatedTiles tiles;
  };
  // Returns the tiles that a work keeps in loops; null where it has none.
  RepeatedTiles* FindRepeated(const RegionWork& work);
  // Counts a run of a work without such tiles, and makes them ready when it ran
  // often, if its program is short.
  absl::Status CountRun(const RegionWork& work, const TileProgram& program,
                        absl::Span<char* const> operands);
  absl::Status Run(const plan::Steps& steps);
  absl::Status Do(const plan::WorkStep& step);
  absl::Status Do(const plan::CopyStep& step);
  absl::Status Do(const plan::LoopStep& step);
  absl::Status Do(const plan::CaseStep& step);
  absl::Status Do(const TileWork& work);
  absl::Status Do(const ProductWork& work);
  absl::Status Do(const LoopWork& work);
  absl::Status Do(const RowWork& work);
  // Iterations of a loop, in which boxes find the numbers of each iteration in
  // `numbers`.
  absl::Status TakeIterations(const LoopWork& work, int64_t iterations,
                              char* numbers);
  // Before each iteration of a loop.
  absl::Status BeginIteration();
  char* At(const plan::Slot& slot) const {
    return bases_[slot.base] + slot.offset;
  }
  absl::InlinedVector<char*, 8> At(absl::Span<const plan::Slot> slots) const {
    absl::InlinedVector<char*, 8> addresses;
    for (const plan::Slot& slot : slots) addresses.push_back(At(slot));
    return addresses;
  }

  const std::vector<Work>& works_;
  const CpuProgram& rows_;
  const Module& module_;
  const std::vector<char*> bases_;
  const Environment& environment_;
  WorkMeter meter_;  // of what is short
  // They go by number of work; there are none until the first loop.
  std::vector<Repeats> repeats_;
  int num_repeated_ = 0;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PLANNED_PLANNED_RUN_H_
