// ChainStep: elementwise ops on lanes that stay in registers.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "kernels/cpu/chains/chain_writer.h"
#include "kernels/cpu/chains/chains.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// Runs a chain over a tile; its stores fill slots. A chain that reads a value
// with one lane for each row or column of kFull runs row by row.
class ChainStep final : public TileStep {
 public:
  // `chains` has all of `links`, which run over lanes of `shape` and use at
  // most ChainWriter::kSpillSlots spill slots. `slots`: by link, the one that
  // has b; none: b is elsewhere. `iotas`: by link of kIota, its numbers.
  ChainStep(int scope, const Chains& chains,
            absl::Span<const WrittenLink> links,
            absl::Span<const LaneSlot> slots, LaneShape shape,
            std::vector<LaneIndex> iotas);

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

  // `number`: of the link.
  void AddAddress(int number, const WrittenLink& link, const LaneSlot& slot);
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
