// Counted loops whose iterations make each element of what only the same
// element was: a box of elements takes many iterations, in the nearest caches,
// before the next box takes them, so that memory is passed once for many
// iterations.
#ifndef HAWSER_KERNELS_CPU_PLANNED_BOXED_LOOPS_H_
#define HAWSER_KERNELS_CPU_PLANNED_BOXED_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/planned/planned_program.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/plan.h"
#include "kernels/plan/steps/steps.h"

namespace hawser::cpu {

// The most that a number takes which an iteration does not make of elements.
inline constexpr int64_t kNumberBytes = 64;

// Makes such loops of `steps`, also of loops and branches inside, one LoopWork
// each, in the place of their region's TileWork.
void BoxLoops(const plan::Plan& plan, const TileOptions& options,
              plan::Steps* steps, std::vector<Work>* works);

// The boxes of a LoopWork's loops.
class LoopBoxes {
 public:
  explicit LoopBoxes(const LoopWork& work);
  int64_t count() const { return count_; }
  absl::InlinedVector<LoopRange, 4> At(int64_t box) const;

 private:
  absl::InlinedVector<TileLoop, 4> loops_;  // a chunk of each is a box
  int64_t count_ = 1;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PLANNED_BOXED_LOOPS_H_
