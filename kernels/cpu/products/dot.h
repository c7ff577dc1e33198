// RunProduct: a dot_general box by box.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_DOT_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_DOT_H_

#include "absl/status/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {

// Writes the product of a context whose instruction is a dot_general, and which
// has the form of its row, dense, to `to`. `tail`: as of a GemmProblem. Errors:
// RunGemm's; kResourceExhausted.
absl::Status RunProduct(const KernelContext& context, char* to,
                        const GemmTail* tail);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_DOT_H_
