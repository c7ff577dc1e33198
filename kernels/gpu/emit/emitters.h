// One emitter per kind of region; emit.cc has the table.
#ifndef HAWSER_KERNELS_GPU_EMIT_EMITTERS_H_
#define HAWSER_KERNELS_GPU_EMIT_EMITTERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/gpu/emit/folds.h"
#include "kernels/gpu/emit/point_writer.h"

namespace hawser::gpu {

using Kernels = absl::StatusOr<std::vector<EmittedKernel>>;

// Every element on its own.
Kernels EmitLoop(const RegionSource& source);
// Reads along another loop than it writes: through tiles in shared memory.
Kernels EmitTiledTranspose(const RegionSource& source);
// A row of the innermost loops by some lanes, one pass per stage; in two
// kernels where rows are cut into parts.
Kernels EmitRow(const RegionSource& source);
Kernels EmitSplitRow(const RegionSource& source, std::vector<Fold> folds);
// Columns side by side, in one or two kernels.
Kernels EmitColumns(const RegionSource& source);
// A product no library takes, with what follows it.
Kernels EmitDot(const RegionSource& source);
// dynamic_update_slice and scatter, over the operand's bytes.
Kernels EmitUpdate(const RegionSource& source);
Kernels EmitScatter(const RegionSource& source);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_EMITTERS_H_
