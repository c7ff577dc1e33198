// CuSolver: factorizations by NVIDIA's library, found at run time.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/cuda/library_calls/planned/planned_call.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/library.h"

namespace hawser::cuda {

// The library. Thread-safe. Callers have made the device current.
class CuSolver {
 public:
  // Errors: kFailedPrecondition naming the files that were looked for.
  static absl::StatusOr<std::unique_ptr<CuSolver>> Open(
      const LibraryPlaces& places, DeviceHealth* health);
  ~CuSolver();

  // Errors: kInvalidArgument, kUnimplemented as gpu::Device::PlanCall.
  absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(
      const gpu::FactorizationSpec& spec) const;
  absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(
      const gpu::QrSpec& spec) const;

 private:
  struct State;
  template <typename Spec>
  class InPlace;
  class Cholesky;
  class Eigh;
  class Lu;
  class Qr;
  explicit CuSolver(DeviceHealth* health);
  absl::StatusOr<std::shared_ptr<const PlannedCall>> PlanLu(
      const gpu::FactorizationSpec& spec) const;

  DeviceHealth* const health_;
  std::unique_ptr<State> state_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_H_
