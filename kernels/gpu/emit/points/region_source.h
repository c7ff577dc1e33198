// RegionSource: a region and where it stands.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINTS_REGION_SOURCE_H_
#define HAWSER_KERNELS_GPU_EMIT_POINTS_REGION_SOURCE_H_

#include "core/ir/module.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"
#include "kernels/plan/region/region.h"

namespace hawser::gpu {

// References to what an emitter reads. All of it outlives the emitter.
struct RegionSource {
  const Module& module;
  const plan::Region& region;
  const EmitOptions& options;

  const Computation& body() const { return module.computation(region.body); }
  // The instruction that the region computes, if it is only one.
  const Instruction& instruction() const {
    return body().instructions()[region.instruction];
  }
  const plan::Point& point(plan::PointId id) const { return region.points[id]; }
  const Instruction& instruction(const plan::Point& p) const {
    return body().instructions()[p.instruction];
  }
  const Shape& shape(plan::PointId id) const {
    return body().shape(point(id).value);
  }
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINTS_REGION_SOURCE_H_
