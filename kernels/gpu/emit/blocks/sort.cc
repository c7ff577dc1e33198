#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/blocks.h"

namespace hawser::gpu {

Kernels EmitSort(const RegionSource& source) {
  return Unimplemented("no kernel sorts");
}

}  // namespace hawser::gpu
