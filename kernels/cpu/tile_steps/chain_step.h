// ChainStep: elementwise ops on lanes that stay in registers.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/chains/chains.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// Runs a chain over a tile; its stores fill slots. A chain that reads a value
// with one lane for each row or column of kFull runs row by row.
class ChainStep final : public TileStep {
 public:
  struct Link {
    ChainOp op = ChainOp::kEnd;
    ChainOperand b = ChainOperand::kNone;
    // One of these says where b is.
    LaneSlot slot = {};    // kLanes, kBroadcast
    int spill = -1;        // kLanes: a spill slot
    int iota = -1;         // kIota: the index in `iotas` of its first number
    bool is_last = false;  // a store that no later link reads back
  };
  // `chains` has all of `links`, which run over lanes of `shape` and use at
  // most ChainWriter::kSpillSlots spill slots.
  ChainStep(int scope, const Chains& chains, const std::vector<Link>& links,
            LaneShape shape, std::vector<LaneIndex> iotas);

  std::vector<OutputSlot>& outputs() { return outputs_; }

 private:
  // How a tile finds a link's `at`.
  struct Address {
    enum Kind : uint8_t { kLoad, kPrefetch, kStore, kLastStore, kSpill, kIota };
    Kind kind;
    int link;
    int number;          // in outputs_, among the spill slots or in iotas_
    LaneSlot slot = {};  // except for kSpill and kIota
  };
  using Firsts = absl::InlinedVector<int64_t, 2>;

  void AddAddress(const Link& link);
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override;
  // Fills tile.links. True if one of them is a streaming store.
  bool SetAddresses(Tile& tile, char* spill, int64_t* firsts) const;
  void RunRows(Tile& tile, int64_t* firsts) const;

  const Chains& chains_;
  const LaneShape shape_;
  const std::vector<LaneIndex> iotas_;
  std::vector<ChainLink> links_;  // without addresses
  std::vector<Address> addresses_;
  std::vector<OutputSlot> outputs_;
  bool by_rows_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
