// RunByteProduct: products of s8, or of u8, as 32-bit integers by oneDNN.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_BYTE_PRODUCT_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_BYTE_PRODUCT_H_

#include "absl/status/status.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {

// Steps of one product and its addition (measured: 0.0035 ns with VNNI).
inline constexpr double kByteProductSteps = 1.0 / 256;

// True if the sums are of a length that one call takes, and a call's start is
// worth it.
bool IsWorthBytes(const GemmProblem& problem);

// The problem's factors are s8 or u8, its result s32 or u32. The library's own
// product of s8 by s8 passes f32 on its way, which rounds beyond 2^24, and it
// has none of u8 by u8; its sums of u8 by s8 wrap and are exact. So one factor
// has its sign bit turned, which adds or takes 128, and sums of the other one,
// times 128, are taken or added again. Errors: RunGemm's; kResourceExhausted.
absl::Status RunByteProduct(const GemmProblem& problem,
                            const Environment& environment, const Dnnl& dnnl);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_BYTE_PRODUCT_H_
