// RunConvolution: a convolution box by box.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_CONVOLUTION_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_CONVOLUTION_H_

#include "absl/status/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {

// The result of a context whose instruction is a convolution goes `to`, as a
// matrix of the places of all images and of features; `tail` as that of a
// GemmProblem, of whole rows. Errors: RunGemm's; kResourceExhausted.
absl::Status RunConvolution(const KernelContext& context, char* to,
                            const GemmTail* tail);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_CONVOLUTION_H_
