// CuSolver::State and CuSolver::InPlace, which its files share: functions,
// handles, errors, and how a call is run.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_STATE_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_STATE_H_

#include <cusolverDn.h>

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cuda/library_calls/cusolver.h"
#include "kernels/cuda/library_calls/planned/handles.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {

// clang-format off
#define HAWSER_CUSOLVER_FUNCTIONS(X) \
  X(cusolverDnCreate) X(cusolverDnDestroy) X(cusolverDnSetStream) \
  X(cusolverDnCreateParams) X(cusolverDnDestroyParams) \
  X(cusolverDnXpotrf_bufferSize) X(cusolverDnXpotrf) \
  X(cusolverDnXsyevd_bufferSize) X(cusolverDnXsyevd) \
  X(cusolverDnSpotrfBatched) X(cusolverDnDpotrfBatched) \
  X(cusolverDnCpotrfBatched) X(cusolverDnZpotrfBatched) \
  X(cusolverDnSgetrf_bufferSize) X(cusolverDnDgetrf_bufferSize) \
  X(cusolverDnCgetrf_bufferSize) X(cusolverDnZgetrf_bufferSize) \
  X(cusolverDnSgetrf) X(cusolverDnDgetrf) X(cusolverDnCgetrf) \
  X(cusolverDnZgetrf) X(cusolverDnDlaswp) \
  X(cusolverDnSgeqrf_bufferSize) X(cusolverDnDgeqrf_bufferSize) \
  X(cusolverDnCgeqrf_bufferSize) X(cusolverDnZgeqrf_bufferSize) \
  X(cusolverDnSgeqrf) X(cusolverDnDgeqrf) X(cusolverDnCgeqrf) \
  X(cusolverDnZgeqrf) X(cusolverDnSorgqr_bufferSize) \
  X(cusolverDnDorgqr_bufferSize) X(cusolverDnCungqr_bufferSize) \
  X(cusolverDnZungqr_bufferSize) X(cusolverDnSorgqr) \
  X(cusolverDnDorgqr) X(cusolverDnCungqr) X(cusolverDnZungqr)
// clang-format on
// Newer than the others: without them, matrices are factored one by one.
#define HAWSER_CUSOLVER_BATCHES(X) \
  X(cusolverDnXsyevBatched_bufferSize) X(cusolverDnXsyevBatched)

HAWSER_CUDA_FUNCTION_TABLE(SolverFunctions, HAWSER_CUSOLVER_FUNCTIONS);
HAWSER_CUDA_FUNCTION_TABLE(BatchFunctions, HAWSER_CUSOLVER_BATCHES);

absl::Status CheckSolver(cusolverStatus_t status, absl::string_view call);

struct CuSolver::State : SolverFunctions {
  State()
      : handles([this](cudaStream_t stream) { return Make(stream); },
                [this](cusolverDnHandle_t h) { cusolverDnDestroy(h); }) {}
  ~State() {
    if (params != nullptr) cusolverDnDestroyParams(params);
  }

  absl::StatusOr<cusolverDnHandle_t> Make(cudaStream_t stream) const {
    cusolverDnHandle_t handle = nullptr;
    HAWSER_RETURN_IF_ERROR(
        CheckSolver(cusolverDnCreate(&handle), "cusolverDnCreate"));
    const absl::Status set =
        CheckSolver(cusolverDnSetStream(handle, stream), "cusolverDnSetStream");
    if (!set.ok()) {
      cusolverDnDestroy(handle);
      return set;
    }
    return handle;
  }

  // Guards the handle of planning.
  mutable Mutex planning;
  BatchFunctions batches;
  bool has_batches = false;
  cusolverDnParams_t params = nullptr;  // the defaults, never changed
  Handles<cusolverDnHandle_t> handles;  // nullptr: that of planning
};

// True for matrices that the library is to factor one after another: many small
// ones are faster on the host, and it counts elements in 32 bits.
inline bool AreFactoredEach(int64_t batch, int64_t longest_side) {
  constexpr int64_t kFewMatrices = 8, kLargeMatrix = 256, kLargestSide = 32768;
  return (batch <= kFewMatrices || longest_side >= kLargeMatrix) &&
         longest_side <= kLargestSide;
}

// A call that computes results in place of operands, which are copied there.
template <typename Spec>
class CuSolver::InPlace : public PlannedCall {
 public:
  bool may_block() const final { return true; }

  absl::Status Run(cudaStream_t stream,
                   const gpu::CallOperands& operands) const final {
    const gpu::CallBytes bytes = gpu::BytesOf(spec_);
    HAWSER_RETURN_IF_ERROR(gpu::CheckOperands(bytes, operands));
    for (const Copied& c : copied_) {
      HAWSER_RETURN_IF_ERROR(CopyBefore(stream, operands.results[c.result],
                                        operands.operands[c.operand],
                                        bytes.results[c.result], health_));
    }
    HAWSER_ASSIGN_OR_RETURN(const cusolverDnHandle_t handle,
                            state_.handles.Of(stream));
    const absl::Status status = Call(stream, handle, operands);
    return status.ok() ? status : AfterFailure(status, stream, name_, health_);
  }

 protected:
  struct Copied {
    int operand, result;
  };
  // `name` stands in errors and lives for ever.
  InPlace(const State* state, DeviceHealth* health, const Spec& spec,
          const char* name, absl::InlinedVector<Copied, 2> copied)
      : state_(*state),
        health_(health),
        spec_(spec),
        name_(name),
        copied_(std::move(copied)) {}

  // The routine itself, on a handle of the stream.
  virtual absl::Status Call(cudaStream_t stream, cusolverDnHandle_t handle,
                            const gpu::CallOperands& operands) const = 0;

  // Waits, if the library may read host memory of `bytes` until then.
  absl::Status AwaitHostBytes(cudaStream_t stream, size_t bytes) const {
    if (bytes == 0) return absl::OkStatus();
    return health_->Check(cudaStreamSynchronize(stream),
                          "cudaStreamSynchronize");
  }

  const State& state_;
  DeviceHealth* const health_;
  const Spec spec_;

 private:
  const char* const name_;
  const absl::InlinedVector<Copied, 2> copied_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_STATE_H_
