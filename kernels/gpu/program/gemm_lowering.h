// Lowers a product region to calls of the device's library.
#ifndef HAWSER_KERNELS_GPU_PROGRAM_GEMM_LOWERING_H_
#define HAWSER_KERNELS_GPU_PROGRAM_GEMM_LOWERING_H_

#include <optional>
#include <vector>

#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/gpu/device/library_call.h"
#include "kernels/plan/region/region.h"

namespace hawser::gpu {

// The call to make, and which operands of the region it reads; -1: none.
struct Product {
  GemmSpec spec;
  int a = -1, b = -1, c = -1, bias = -1;
  // Bytes in front of each call's matrices; c lies as d does.
  struct Offset {
    int64_t a = 0, b = 0, d = 0;
  };
  std::vector<Offset> calls;
};

// One of the planner's calls, for a device.
GemmSpec SpecOf(const plan::ProductCall& call, runtime::Numerics numerics);

// nullopt where the planner found no call (kernels/plan/target/product_call.h).
std::optional<Product> LowerProduct(const Module& module,
                                    const plan::Region& region,
                                    runtime::Numerics numerics);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_GEMM_LOWERING_H_
