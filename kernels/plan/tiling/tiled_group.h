// TiledGroup: instructions whose values are too large to be computed at once.
#ifndef HAWSER_KERNELS_PLAN_TILING_TILED_GROUP_H_
#define HAWSER_KERNELS_PLAN_TILING_TILED_GROUP_H_

#include <vector>

#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Instructions of one computation that a loop may compute tile by tile: a
// product that is much larger than its factors, what is computed from it
// element by element, and the reductions and products in which that ends. An
// instruction may be in several groups and is then computed in each. Invariant:
// no value that the group gives is needed for one that it takes.
struct TiledGroup {
  std::vector<int> instructions;  // ascending
  // Values that are made elsewhere, one for each operand in the instructions'
  // order: two readers of one value may need other parts of it.
  std::vector<ValueId> takes;
  std::vector<ValueId> gives;  // values that are read elsewhere
};

// Groups that are tiled all or not at all: between them they read all that is
// computed from their large products.
using TiledGroups = std::vector<TiledGroup>;

// Returns the groups of each large product of a computation, as a rule none.
// Sizes alone decide.
std::vector<TiledGroups> FindTiledGroups(const Computation& computation,
                                         const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_TILING_TILED_GROUP_H_
