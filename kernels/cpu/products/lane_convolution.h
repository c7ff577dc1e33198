// Convolutions whose groups have few features: sums side by side.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_LANE_CONVOLUTION_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_LANE_CONVOLUTION_H_

#include "absl/status/status.h"
#include "core/ops/windows/convolution.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {

// True if a convolution is so small that a call of a library would take longer
// than its products.
bool IsSmallConvolution(const KernelContext& c);

// True if groups are so small that products of their matrices are mostly
// overhead.
bool SuitsLanes(const KernelContext& c, const ConvolutionSpec& spec);

// Sums the results of one place side by side, place after place of the kernel,
// halves in f32, and f32 in f64 where that costs nothing. `to` and `tail`: as
// of RunConvolution.
absl::Status RunLanes(const KernelContext& c, const ConvolutionSpec& spec,
                      char* to, const GemmTail* tail);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_LANE_CONVOLUTION_H_
