// The emitters of regions that fold.
#ifndef HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_REDUCTIONS_H_
#define HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_REDUCTIONS_H_

#include <vector>

#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/reductions/folds.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// A row of the innermost loops by some lanes, one pass per stage; in two
// kernels where rows are cut into parts.
Kernels EmitRow(const RegionSource& source);
Kernels EmitSplitRow(const RegionSource& source, std::vector<Fold> folds);
// Columns side by side, in one or two kernels.
Kernels EmitColumns(const RegionSource& source);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_REDUCTIONS_H_
