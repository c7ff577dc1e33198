// Products by the matrix instructions of warps, where the dialect has one for
// their dtypes.
#ifndef HAWSER_KERNELS_GPU_EMIT_MATRIX_DOT_H_
#define HAWSER_KERNELS_GPU_EMIT_MATRIX_DOT_H_

#include "kernels/gpu/emit/product_loops.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// True if the instructions sum as the options want it: never if `strict`, f32
// only if `tf32`.
bool HasMatrixDot(const RegionSource& source, const ProductLoops& product);
// Takes a product for which HasMatrixDot is true.
Kernels EmitMatrixDot(const RegionSource& source, ProductLoops product);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_MATRIX_DOT_H_
