// EmitRegion: the kernels of one region, as text in the dialect.
// FIXED: the engine (kernels/gpu) and the emitters are both written over this
// header; fields may be added.
#ifndef HAWSER_KERNELS_GPU_EMIT_EMIT_H_
#define HAWSER_KERNELS_GPU_EMIT_EMIT_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"
#include "kernels/plan/region/region.h"

namespace hawser::gpu {

// True if there is an emitter. Not for kNone, kConstant, kView, kControl, which
// launch nothing, and kHost; and not for what no kernel can do (README).
bool CanEmit(const Module& module, const plan::Region& region);

// Returns the launches of `region`, of `module`, in order on one stream. A
// region of kUpdate changes its result in place: the caller has put the
// operand's bytes there. A region without elements has no launches.
// Errors: kUnimplemented where CanEmit is false; kResourceExhausted for more
// blocks than a launch has; kInternal, a bug.
absl::StatusOr<std::vector<EmittedKernel>> EmitRegion(
    const Module& module, const plan::Region& region,
    const EmitOptions& options);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_EMIT_H_
