// CublasLt: matrix products by NVIDIA's library, found at run time.
#ifndef HAWSER_KERNELS_CUDA_PRODUCTS_CUBLASLT_H_
#define HAWSER_KERNELS_CUDA_PRODUCTS_CUBLASLT_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/library.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/device/gemm_check.h"

namespace hawser::cuda {

// A product whose algorithms are chosen. Never changes, so it is thread-safe.
class BlasPlan;

// The library. Thread-safe. Callers have made the device current.
class CublasLt {
 public:
  // Errors: kFailedPrecondition naming the files that were looked for.
  static absl::StatusOr<std::unique_ptr<CublasLt>> Open(
      const LibraryPlaces& places, DeviceHealth* health);
  ~CublasLt();

  const std::string& version() const { return version_; }

  // Errors: kInvalidArgument, kUnimplemented as gpu::Device::PlanCall.
  absl::StatusOr<std::shared_ptr<const BlasPlan>> Plan(
      const gpu::GemmSpec& spec) const;
  static int64_t WorkspaceBytes(const BlasPlan& plan);
  absl::Status Run(cudaStream_t stream, const BlasPlan& plan,
                   const gpu::GemmOperands& operands) const;

 private:
  struct Functions;
  explicit CublasLt(DeviceHealth* health);

  DeviceHealth* const health_;
  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
  std::string version_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_PRODUCTS_CUBLASLT_H_
