// CuFft: Fourier transforms by NVIDIA's library, found at run time.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUFFT_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUFFT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/cuda/library_calls/planned/planned_call.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/library.h"

namespace hawser::cuda {

// The library. Thread-safe. Callers have made the device current.
class CuFft {
 public:
  // Errors: kFailedPrecondition naming the files that were looked for.
  static absl::StatusOr<std::unique_ptr<CuFft>> Open(
      const LibraryPlaces& places, DeviceHealth* health);
  ~CuFft();

  const std::string& version() const { return version_; }

  // Errors: kInvalidArgument, kUnimplemented as gpu::Device::PlanCall.
  absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(
      const gpu::FftSpec& spec) const;

 private:
  struct Functions;
  class Transform;
  explicit CuFft(DeviceHealth* health);

  DeviceHealth* const health_;
  std::unique_ptr<Functions> functions_;
  std::string version_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUFFT_H_
