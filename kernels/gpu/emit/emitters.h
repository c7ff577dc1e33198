// One emitter per kind of region; emit.cc has the table. The emitters that fold
// are in reductions.h.
#ifndef HAWSER_KERNELS_GPU_EMIT_EMITTERS_H_
#define HAWSER_KERNELS_GPU_EMIT_EMITTERS_H_

#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// Every element on its own.
Kernels EmitLoop(const RegionSource& source);
// Reads along another loop than it writes: through tiles in shared memory.
Kernels EmitTiledTranspose(const RegionSource& source);
// A product no library takes, with what follows it.
Kernels EmitDot(const RegionSource& source);
// dynamic_update_slice and scatter, over the operand's bytes.
Kernels EmitUpdate(const RegionSource& source);
Kernels EmitScatter(const RegionSource& source);
// Scatters of any other plan::ScatterWay than kOwners.
Kernels EmitAtomicScatter(const RegionSource& source);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_EMITTERS_H_
