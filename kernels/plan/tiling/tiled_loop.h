// TiledLoop: a group of instructions as a loop over equal tiles.
#ifndef HAWSER_KERNELS_PLAN_TILING_TILED_LOOP_H_
#define HAWSER_KERNELS_PLAN_TILING_TILED_LOOP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "core/ops/part/part.h"
#include "core/sharding/part/part_module.h"
#include "kernels/plan/target/target.h"
#include "kernels/plan/tiling/tiled_group.h"

namespace hawser::plan {

// A tile is the same box of each result, moved on by its own size each
// iteration. Invariant: what a tile takes, and the numbers that say where it
// lies, move on by the same steps, so that all iterations are one computation.
class TiledLoop {
 public:
  // Returns the loop whose iterations read the least; of those, one of the
  // fewest iterations whose tiles are as small as the target wants them, else
  // that of the smallest tiles; nullopt where no axis makes tiles that share no
  // work. Errors: kInternal, an op without a part rule.
  static absl::StatusOr<std::optional<TiledLoop>> Make(
      const Module& module, const Computation& computation,
      const TiledGroup& group, const Target& target);

  // Adds the loop to `builder`, whose module gets its computations. takes: what
  // the group takes. Returns what it gives.
  absl::StatusOr<std::vector<ValueId>> Build(absl::Span<const ValueId> takes,
                                             ComputationBuilder& builder) const;

 private:
  // Where something begins in the first iteration, and how far the next is.
  struct Start {
    int64_t first = 0, step = 0;
  };
  struct Taken {
    int parameter = 0;
    Box box;  // in the first iteration
    std::vector<Start> starts;
  };
  class Search;
  class Body;

  TiledLoop() = default;
  // Learns from the part of iteration 1 how the first one moves on; false if
  // that of `iteration` is not where it leads.
  bool Follow(const PartModule& first, const PartModule& part,
              int64_t iteration);
  absl::StatusOr<int> AddCondition(absl::Span<const Shape> state,
                                   Module* module) const;

  Module outlined_;  // its entry is the group
  int64_t iterations_ = 0;
  int64_t unit_ = 1;  // by which the loop counts: the first result's step
  std::vector<Piece> gives_;  // in the first iteration
  std::vector<Taken> takes_;
  std::vector<Start> offsets_;
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_TILING_TILED_LOOP_H_
