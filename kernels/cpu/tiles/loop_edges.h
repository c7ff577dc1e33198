// Edges of loops: where predicates of a region begin and cease to hold.
#ifndef HAWSER_KERNELS_CPU_TILES_LOOP_EDGES_H_
#define HAWSER_KERNELS_CPU_TILES_LOOP_EDGES_H_

#include "kernels/cpu/tile_steps/tile.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// The iterations of `loop` in which the predicates on it hold, whatever the
// other loops': windows are whole there, and tiles need no look at single
// lanes. Predicates that hold in less than half of the iterations count for
// nothing. Empty: there are no edges.
LaneSpan InnerIterations(const plan::Region& region, int loop);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TILES_LOOP_EDGES_H_
