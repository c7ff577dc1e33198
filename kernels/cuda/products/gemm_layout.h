// A product as cuBLASLt states it: column-major matrices that are used as they
// lie or transposed. Pure arithmetic, tested without the library.
#ifndef HAWSER_KERNELS_CUDA_PRODUCTS_GEMM_LAYOUT_H_
#define HAWSER_KERNELS_CUDA_PRODUCTS_GEMM_LAYOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

// Element (row, column) of matrix `batch` lies `batch * batch_stride + column *
// leading + row` elements behind the address.
struct BlasMatrix {
  DType dtype = DType::kInvalid;
  int64_t rows = 0, columns = 0;  // as it lies
  int64_t leading = 0;            // at least `rows`
  int64_t batch_stride = 0;
  bool is_transposed = false;  // when used
};

// d = first x second, after transposing. A product with row-major results is
// the swapped one of the transposes, whose rows are the spec's columns: there
// cuBLASLt's bias, one value per row, is the spec's bias.
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
