// Kernels in which a block's threads work together over runs of an axis: scans
// and sorts (kernels/plan/region/block_layout.h).
#ifndef HAWSER_KERNELS_GPU_EMIT_BLOCKS_BLOCKS_H_
#define HAWSER_KERNELS_GPU_EMIT_BLOCKS_BLOCKS_H_

#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// Emits a region of kBlock. Errors: kUnimplemented for a computation that holds
// more than ops of one element, and for keys too wide for shared memory.
Kernels EmitBlocks(const RegionSource& source);

Kernels EmitScan(const RegionSource& source);
Kernels EmitSort(const RegionSource& source);
Kernels EmitSelect(const RegionSource& source);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_BLOCKS_BLOCKS_H_
