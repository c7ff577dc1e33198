// ChainStep: elementwise ops on lanes that stay in registers.
#ifndef HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
#define HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/chains/chains.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// Gives the lanes that its links give. Where a value has one lane for each row
// or column of kFull, the chain runs row by row.
class ChainStep final : public TileStep {
 public:
  struct Link {
    ChainOp op = ChainOp::kEnd;
    ChainOther other = ChainOther::kNone;
    LaneSlot slot = {};    // kLanes, kOne: what is read or given; or
    int kept = -1;         // kLanes: a place of the strip's; or
    int count = -1;        // of kCount: which of `counts` it begins at
    bool is_last = false;  // of a give: no link behind it reads what it gave
  };
  // Lanes of `shape`, by `chains`, which has such links. At most
  // ChainWriter::kPlaces places.
  ChainStep(int scope, const Chains& chains, const std::vector<Link>& links,
            LaneShape shape, std::vector<LaneIndex> counts);

  std::vector<GivenSlot>& given() { return given_; }

 private:
  // What a link's `at` is in a tile.
  struct Place {
    enum Kind : uint8_t { kRead, kAhead, kGiven, kGivenLast, kKept, kCount };
    Kind kind;
    int link;
    int number;          // of given_, of the place or of counts_
    LaneSlot slot = {};  // but for the last two
  };
  using Firsts = absl::InlinedVector<int64_t, 2>;

  void AddPlace(const Link& link);
  void Run(Tile& tile) const override;
  void Skip(Tile& tile) const override;
  // Leaves the links in tile.links. Whether some go past the caches.
  bool PlaceLinks(Tile& tile, char* kept, int64_t* firsts) const;
  void RunRows(Tile& tile, int64_t* firsts) const;

  const Chains& chains_;
  const LaneShape shape_;
  const std::vector<LaneIndex> counts_;
  std::vector<ChainLink> links_;  // but for where
  std::vector<Place> places_;
  std::vector<GivenSlot> given_;
  bool by_rows_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILE_STEPS_CHAIN_STEP_H_
