// Libraries: every library that a device's calls go to.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_LIBRARIES_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_LIBRARIES_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/cuda/library_calls/cublas.h"
#include "kernels/cuda/library_calls/cudnn.h"
#include "kernels/cuda/library_calls/cufft.h"
#include "kernels/cuda/library_calls/cusolver.h"
#include "kernels/cuda/library_calls/planned/planned_call.h"
#include "kernels/cuda/products/cublaslt.h"

namespace hawser::cuda {

// Opened when it is first asked for: each takes hundreds of megabytes of
// addresses and a moment. Thread-safe.
template <typename T>
class OpenedOnDemand {
 public:
  absl::StatusOr<const T*> Get(const LibraryPlaces& places,
                               DeviceHealth* health) const {
    MutexLock lock(&mu_);
    if (!library_.has_value()) library_ = T::Open(places, health);
    if (!library_->ok()) return library_->status();
    return (*library_)->get();
  }

 private:
  mutable Mutex mu_;
  mutable std::optional<absl::StatusOr<std::unique_ptr<T>>> library_
      ABSL_GUARDED_BY(mu_);
};

// Thread-safe. Callers have made the device current.
class Libraries {
 public:
  // Opens cuBLASLt.
  Libraries(LibraryPlaces places, DeviceHealth* health);

  // "cublasLt 130200", or that there is none.
  std::string version() const;

  // Errors: as gpu::Device::PlanCall. The plan may not outlive this.
  absl::StatusOr<std::shared_ptr<const PlannedCall>> Plan(
      const gpu::LibraryCall& call) const;

 private:
  using Planned = absl::StatusOr<std::shared_ptr<const PlannedCall>>;
  Planned PlanOf(const gpu::GemmSpec& spec) const;
  Planned PlanOf(const gpu::FftSpec& spec) const;
  Planned PlanOf(const gpu::FactorizationSpec& spec) const;
  Planned PlanOf(const gpu::TriangularSolveSpec& spec) const;
  Planned PlanOf(const gpu::QrSpec& spec) const;
  Planned PlanOf(const gpu::ConvolutionSpec& spec) const;

  const LibraryPlaces places_;
  DeviceHealth* const health_;
  const absl::StatusOr<std::unique_ptr<CublasLt>> products_;
  const OpenedOnDemand<CuFft> transforms_;
  const OpenedOnDemand<CuSolver> factorizations_;
  const OpenedOnDemand<CuBlas> solves_;
  const OpenedOnDemand<CuDnn> convolutions_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_LIBRARIES_H_
