// RunLibraryConvolution: a convolution by oneDNN, in boxes of images and rows.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_LIBRARY_CONVOLUTION_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_LIBRARY_CONVOLUTION_H_

#include "absl/status/status.h"
#include "core/ops/windows/convolution.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/libraries/dnnl.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {

// Fills `result`, of which `tail`, unless null, is given each box. f32, and
// halves with sums in f32 that are rounded once. Boxes are cut by shapes alone.
// Errors: the token's; kResourceExhausted; and kUnimplemented, with nothing
// done: the library is of no use for it.
absl::Status RunLibraryConvolution(const KernelContext& c,
                                   const ConvolutionSpec& spec,
                                   const Dnnl& dnnl, char* result,
                                   const GemmTail* tail);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_LIBRARY_CONVOLUTION_H_
