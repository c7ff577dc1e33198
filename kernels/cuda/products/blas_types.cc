#include "kernels/cuda/products/blas_types.h"

#include <cmath>
#include <complex>
#include <limits>

#include "core/base/status.h"
#include "core/base/values/dtype.h"

namespace hawser::cuda {
namespace {

using gpu::GemmActivation;
using gpu::GemmSpec;

// Halves are summed in f32, 8-bit integers in s32.
constexpr BlasTypes kTypes[] = {
    {DType::kF16, DType::kF16, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F},
    {DType::kF16, DType::kF32, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F},
    {DType::kBF16, DType::kBF16, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F,
     CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F},
    {DType::kBF16, DType::kF32, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F},
    {DType::kF32, DType::kF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
     CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {DType::kF64, DType::kF64, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F,
     CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F},
    {DType::kC64, DType::kC64, CUDA_C_32F, CUDA_C_32F, CUDA_C_32F,
     CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32},
    {DType::kC128, DType::kC128, CUDA_C_64F, CUDA_C_64F, CUDA_C_64F,
     CUBLAS_COMPUTE_64F, CUBLAS_COMPUTE_64F},
    {DType::kS8, DType::kS32, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I,
     CUBLAS_COMPUTE_32I, CUBLAS_COMPUTE_32I},
};

}  // namespace

absl::StatusOr<BlasTypes> BlasTypesOf(const GemmSpec& spec) {
  for (const BlasTypes& types : kTypes) {
    if (spec.a.dtype == types.factor && spec.b.dtype == types.factor &&
        spec.d.dtype == types.result) {
      return types;
    }
  }
  return Unimplemented("gemm: ", DTypeName(spec.a.dtype), " x ",
                       DTypeName(spec.b.dtype), " -> ",
                       DTypeName(spec.d.dtype));
}

absl::StatusOr<BlasScale> BlasScaleOf(cudaDataType_t type, double value) {
  switch (type) {
    case CUDA_R_32F:
      return BlasScale::Of(static_cast<float>(value));
    case CUDA_R_64F:
      return BlasScale::Of(value);
    case CUDA_C_32F:
      return BlasScale::Of(std::complex<float>(static_cast<float>(value)));
    case CUDA_C_64F:
      return BlasScale::Of(std::complex<double>(value));
    default:
      break;
  }
  using Limits = std::numeric_limits<int32_t>;
  if (value != std::floor(value) || value < Limits::min() ||
      value > Limits::max()) {
    return Unimplemented("gemm: integers times ", value);
  }
  return BlasScale::Of(static_cast<int32_t>(value));
}

uint32_t BlasEpilogueOf(const GemmSpec& spec) {
  uint32_t epilogue = spec.has_bias ? CUBLASLT_EPILOGUE_BIAS : 0;
  if (spec.activation == GemmActivation::kRelu) {
    epilogue |= CUBLASLT_EPILOGUE_RELU;
  }
  if (spec.activation == GemmActivation::kGeluTanh) {
    epilogue |= CUBLASLT_EPILOGUE_GELU;
  }
  if (epilogue == 0) return CUBLASLT_EPILOGUE_DEFAULT;
  return epilogue;
}

absl::StatusCode CodeOf(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return absl::StatusCode::kOk;
    case CUBLAS_STATUS_ALLOC_FAILED:
      return absl::StatusCode::kResourceExhausted;
    case CUBLAS_STATUS_INVALID_VALUE:
      return absl::StatusCode::kInvalidArgument;
    case CUBLAS_STATUS_NOT_SUPPORTED:
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return absl::StatusCode::kUnimplemented;
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace hawser::cuda
