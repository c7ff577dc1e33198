// P A = L U by cuSOLVER.
#include <algorithm>
#include <limits>

#include "core/base/values/dtype.h"
#include "kernels/cuda/library_calls/cusolver_state.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {
namespace {

// The functions of one dtype. T: its numbers as the library names them.
template <typename T>
struct Getrf {
  cusolverStatus_t (*size)(cusolverDnHandle_t, int, int, T*, int, int*);
  cusolverStatus_t (*run)(cusolverDnHandle_t, int, int, T*, int, T*, int*,
                          int*);
};

}  // namespace

// It factors the transpose of a row-major matrix, which is a matrix of the
// library's. The numbers are a column of one element in each row, and are
// exchanged with the rows.
class CuSolver::Lu final : public InPlace<gpu::FactorizationSpec> {
 public:
  Lu(const State* state, DeviceHealth* health,
     const gpu::FactorizationSpec& spec)
      : InPlace(state, health, spec, "cusolver getrf", {{0, 0}, {1, 2}}) {}

  absl::Status Make() {
    HAWSER_ASSIGN_OR_RETURN(const cusolverDnHandle_t handle,
                            state_.handles.Of(nullptr));
    return WithFunctions([&]<typename T>(const Getrf<T>& getrf) {
      return CheckSolver(
          getrf.size(handle, n(), n(), static_cast<T*>(AnyPointer()), n(),
                     &work_elements_),
          "cusolver getrf_bufferSize");
    });
  }

  int64_t workspace_bytes() const override {
    return int64_t{work_elements_} * ByteWidth(spec_.dtype);
  }

 private:
  absl::Status Call(cudaStream_t, cusolverDnHandle_t handle,
                    const gpu::CallOperands& operands) const override {
    return WithFunctions([&]<typename T>(const Getrf<T>& getrf) {
      return Factored(getrf, handle, operands);
    });
  }

  int n() const { return static_cast<int>(spec_.size); }

  template <typename Do>
  absl::Status WithFunctions(Do f) const {
    const State& s = state_;
    switch (spec_.dtype) {
      case DType::kF32:
        return f(
            Getrf<float>{s.cusolverDnSgetrf_bufferSize, s.cusolverDnSgetrf});
      case DType::kF64:
        return f(
            Getrf<double>{s.cusolverDnDgetrf_bufferSize, s.cusolverDnDgetrf});
      case DType::kC64:
        return f(Getrf<cuComplex>{s.cusolverDnCgetrf_bufferSize,
                                  s.cusolverDnCgetrf});
      default:
        return f(Getrf<cuDoubleComplex>{s.cusolverDnZgetrf_bufferSize,
                                        s.cusolverDnZgetrf});
    }
  }

  template <typename T>
  absl::Status Factored(const Getrf<T>& getrf, cusolverDnHandle_t handle,
                        const gpu::CallOperands& operands) const {
    T* const matrices = static_cast<T*>(Pointer(operands.results[0]));
    int* const pivots = static_cast<int*>(Pointer(operands.results[1]));
    double* const numbers = static_cast<double*>(Pointer(operands.results[2]));
    int* const info = static_cast<int*>(Pointer(operands.results[3]));
    for (int64_t k = 0; k < spec_.batch; ++k) {
      HAWSER_RETURN_IF_ERROR(CheckSolver(
          getrf.run(handle, n(), n(), matrices + k * spec_.size * spec_.size,
                    n(), static_cast<T*>(Pointer(operands.workspace)),
                    pivots + k * spec_.size, info + k),
          "cusolver getrf"));
      HAWSER_RETURN_IF_ERROR(CheckSolver(
          state_.cusolverDnDlaswp(handle, 1, numbers + k * spec_.size, n(), 1,
                                  n(), pivots + k * spec_.size, 1),
          "cusolverDnDlaswp"));
    }
    return absl::OkStatus();
  }

  int work_elements_ = 0;
};

absl::StatusOr<std::shared_ptr<const PlannedCall>> CuSolver::PlanLu(
    const gpu::FactorizationSpec& spec) const {
  if (!AreFactoredEach(spec.batch, spec.size)) {
    return Unimplemented("lu: ", spec.batch, " matrices of ", spec.size);
  }
  auto plan = std::make_shared<Lu>(state_.get(), health_, spec);
  HAWSER_RETURN_IF_ERROR(AsRefusal(plan->Make()));
  return plan;
}

}  // namespace hawser::cuda
