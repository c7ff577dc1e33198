// ChainStep: elementwise ops on lanes that stay in registers.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/lanes/chains.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// Gives the lanes that its last op leaves, and those that it gives on the way.
// Where a value has one lane for each row or column of kFull, the chain runs
// row by row.
class ChainStep final : public ValueStep {
 public:
  struct Link {
    ChainOp op = ChainOp::kEnd;
    ChainOther other = ChainOther::kNone;
    LaneSlot slot = {};  // kLanes, kOne: what is read or given; of kCount none
  };
  // The last link gives `to`. `count`: what kCount begins at in each row.
  ChainStep(int scope, ChainFn fn, std::vector<Link> links, LaneSlot to,
            std::optional<LaneIndex> count);

 private:
  // Room for all but the longest chains (measured: memory for each run of one
  // takes as long as a fifth of its links).
  using Links = absl::InlinedVector<ChainLink, 48>;
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override;
  Links LinksOf(Tile& tile, int64_t* first) const;
  void RunRows(const Tile& tile, int64_t* first, Links& links) const;

  const ChainFn fn_;
  const std::vector<Link> links_;
  const std::optional<LaneIndex> count_;
  bool by_rows_ = false;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
