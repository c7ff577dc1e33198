// ChainStep: elementwise ops on lanes that stay in registers.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_

#include <utility>
#include <vector>

#include "kernels/cpu/lanes/chains.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// Gives the lanes that its last op leaves, and those that it keeps on the way.
// Where a value has one lane for each row or column of kFull, the chain runs
// row by row.
class ChainStep final : public ValueStep {
 public:
  struct Link {
    ChainOp op;
    ChainOther other = ChainOther::kNone;
    LaneSlot slot = {};  // kLanes, kOne; kKeep: the slot that gets the lanes
  };
  ChainStep(int scope, ChainFn fn, LaneSlot in, std::vector<Link> links,
            LaneSlot to);

 private:
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override;
  void RunRows(const Tile& tile, const char* in, char* out,
               absl::Span<ChainLink> links) const;

  const ChainFn fn_;
  const LaneSlot in_;
  const std::vector<Link> links_;
  bool by_rows_ = false;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
