// A GPU's target with every library, for plans that are made without a device.
#ifndef HAWSER_KERNELS_GPU_PROGRAM_LIBRARY_TARGET_H_
#define HAWSER_KERNELS_GPU_PROGRAM_LIBRARY_TARGET_H_

#include "kernels/plan/target/target.h"

namespace hawser::gpu {

// plan::GpuTarget of a device whose libraries take every call that there is, in
// kFast numerics. A device's own library may refuse some.
plan::Target TargetWithLibraries();

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_LIBRARY_TARGET_H_
