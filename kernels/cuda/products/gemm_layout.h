// A product in the terms of cuBLASLt: column-major matrices, each used as it is
// stored or transposed. Arithmetic only; needs no library.
#ifndef HAWSER_KERNELS_CUDA_PRODUCTS_GEMM_LAYOUT_H_
#define HAWSER_KERNELS_CUDA_PRODUCTS_GEMM_LAYOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

// Element (row, column) of matrix `batch` lies `batch * batch_stride + column *
// leading + row` elements after the address.
struct BlasMatrix {
  DType dtype = DType::kInvalid;
  int64_t rows = 0, columns = 0;  // as it is stored
  int64_t leading = 0;            // at least `rows`
  int64_t batch_stride = 0;
  bool is_transposed = false;  // when used
};

// d = first x second, each transposed where it says so. A product with a
// row-major result is computed as the swapped product of the transposes. Its
// rows are the spec's columns, so cuBLASLt's bias, one value for each row, is
// the spec's bias.
struct BlasProblem {
  bool is_swapped = false;  // `first` is the spec's b, `second` its a
  BlasMatrix first, second;
  BlasMatrix c, d;  // c is d's where the spec has none
};

// Errors: kInvalidArgument for sizes or strides that make no sense,
// kUnimplemented for a layout that has no such form.
absl::StatusOr<BlasProblem> ToBlasProblem(const gpu::GemmSpec& spec);

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_PRODUCTS_GEMM_LAYOUT_H_
