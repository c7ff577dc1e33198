// A product region as a call of the device's library.
#ifndef HAWSER_KERNELS_GPU_GEMM_LOWERING_H_
#define HAWSER_KERNELS_GPU_GEMM_LOWERING_H_

#include <optional>

#include "core/ir/module.h"
#include "kernels/gpu/device_types.h"
#include "kernels/plan/region.h"

namespace hawser::gpu {

// What to call, and which operands of the region it reads; -1: none.
struct Product {
  GemmSpec spec;
  int a = -1, b = -1, c = -1, bias = -1;
};

// nullopt where strides or the tail are none that a library takes, and for
// products without elements or without a sum.
std::optional<Product> LowerProduct(const Module& module,
                                    const plan::Region& region);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_GEMM_LOWERING_H_
