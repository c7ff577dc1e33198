// CuDnn: convolutions by NVIDIA's library, found at run time.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUDNN_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUDNN_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/cuda/library_calls/planned/planned_call.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/library.h"

namespace hawser::cuda {

// The library. Thread-safe. Callers have made the device current.
class CuDnn {
 public:
  // Errors: kFailedPrecondition naming the files that were looked for.
  static absl::StatusOr<std::unique_ptr<CuDnn>> Open(
      const LibraryPlaces& places, DeviceHealth* health);
  ~CuDnn();

  const std::string& version() const { return version_; }

  // Errors: kInvalidArgument, kUnimplemented as gpu::Device::PlanCall.
  absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(
      const gpu::ConvolutionSpec& spec) const;

 private:
  struct State;
  class Convolution;
  explicit CuDnn(DeviceHealth* health);

  DeviceHealth* const health_;
  std::unique_ptr<State> state_;
  std::string version_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUDNN_H_
