// What the files of CuSolver share: its functions, handles and errors.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_STATE_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_STATE_H_

#include <cusolverDn.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cuda/library_calls/cusolver.h"
#include "kernels/cuda/library_calls/handles.h"

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

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_CUSOLVER_STATE_H_
