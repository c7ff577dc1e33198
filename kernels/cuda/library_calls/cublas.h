// CuBlas: triangular solves by NVIDIA's library, found at run time.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUBLAS_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUBLAS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/cuda/library_calls/planned/planned_call.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/library.h"

namespace hawser::cuda {

// The library. Thread-safe. Callers have made the device current.
class CuBlas {
 public:
  // Errors: kFailedPrecondition naming the files that were looked for.
  static absl::StatusOr<std::unique_ptr<CuBlas>> Open(
      const LibraryPlaces& places, DeviceHealth* health);
  ~CuBlas();

  // Errors: kInvalidArgument, kUnimplemented as gpu::Device::PlanCall.
  absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(
      const gpu::TriangularSolveSpec& spec) const;

 private:
  struct State;
  class Solve;
  explicit CuBlas(DeviceHealth* health);

  DeviceHealth* const health_;
  std::unique_ptr<State> state_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUBLAS_H_
