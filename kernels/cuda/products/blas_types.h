// Dtypes, scales and epilogues of products as cuBLASLt names them.
#ifndef HAWSER_KERNELS_CUDA_PRODUCTS_BLAS_TYPES_H_
#define HAWSER_KERNELS_CUDA_PRODUCTS_BLAS_TYPES_H_

#include <cublasLt.h>

#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

struct BlasTypes {
  DType factor, result;
  cudaDataType_t factor_type, result_type, scale_type;
  cublasComputeType_t full, tf32;  // by GemmPrecision
};
// Errors: kUnimplemented for dtypes that the library does not multiply.
absl::StatusOr<BlasTypes> BlasTypesOf(const gpu::GemmSpec& spec);

// alpha or beta in the type that the library reads.
struct BlasScale {
  alignas(16) char bytes[16] = {};

  template <typename T>
  static BlasScale Of(T value) {
    static_assert(sizeof(T) <= sizeof(bytes));
    BlasScale scale;
    std::memcpy(scale.bytes, &value, sizeof(value));
    return scale;
  }
};
// Errors: kUnimplemented for a fraction where the type is an integer.
absl::StatusOr<BlasScale> BlasScaleOf(cudaDataType_t type, double value);

// The code of an error of the library; kOk is none.
absl::StatusCode CodeOf(cublasStatus_t status);

// The bias and activation, as cublasLtEpilogue_t.
uint32_t BlasEpilogueOf(const gpu::GemmSpec& spec);

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_PRODUCTS_BLAS_TYPES_H_
