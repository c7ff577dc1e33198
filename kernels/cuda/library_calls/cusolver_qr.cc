// A = Q R by cuSOLVER.
#include <algorithm>

#include "core/base/values/dtype.h"
#include "kernels/cuda/library_calls/cusolver_state.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {
namespace {

// Space for one s32, so that what is behind it is aligned.
constexpr int64_t kInfoBytes = 256;

// The functions of one dtype. T: its numbers as the library names them.
template <typename T>
struct Geqrf {
  cusolverStatus_t (*size)(cusolverDnHandle_t, int, int, T*, int, int*);
  cusolverStatus_t (*run)(cusolverDnHandle_t, int, int, T*, int, T*, T*, int,
                          int*);
  cusolverStatus_t (*q_size)(cusolverDnHandle_t, int, int, int, const T*, int,
                             const T*, int*);
  cusolverStatus_t (*q_run)(cusolverDnHandle_t, int, int, int, T*, int,
                            const T*, T*, int, int*);
};

}  // namespace

// It factors the transpose of a row-major matrix, which is a matrix of the
// library's. The workspace is an s32, the factors of the reflections, the
// library's own.
class CuSolver::Qr final : public InPlace<gpu::QrSpec> {
 public:
  Qr(const State* state, DeviceHealth* health, const gpu::QrSpec& spec)
      : InPlace(state, health, spec, "cusolver geqrf", {{0, 0}}) {}

  absl::Status Make() {
    HAWSER_ASSIGN_OR_RETURN(const cusolverDnHandle_t handle,
                            state_.handles.Of(nullptr));
    return WithFunctions([&]<typename T>(const Geqrf<T>& f) -> absl::Status {
      T* const any = static_cast<T*>(AnyPointer());
      int of_r = 0, of_q = 0;
      HAWSER_RETURN_IF_ERROR(
          CheckSolver(f.size(handle, rows(), columns(), any, rows(), &of_r),
                      "cusolver geqrf_bufferSize"));
      HAWSER_RETURN_IF_ERROR(
          CheckSolver(f.q_size(handle, rows(), q_columns(), least(), any,
                               rows(), any, &of_q),
                      "cusolver orgqr_bufferSize"));
      work_elements_ = std::max(of_r, of_q);
      return absl::OkStatus();
    });
  }

  int64_t workspace_bytes() const override {
    return kInfoBytes + FactorBytes() +
           int64_t{work_elements_} * ByteWidth(spec_.dtype);
  }

 private:
  absl::Status Call(cudaStream_t stream, cusolverDnHandle_t handle,
                    const gpu::CallOperands& operands) const override {
    return WithFunctions([&]<typename T>(const Geqrf<T>& f) {
      return Factored(f, stream, handle, operands);
    });
  }

  int rows() const { return static_cast<int>(spec_.rows); }
  int columns() const { return static_cast<int>(spec_.columns); }
  int q_columns() const { return static_cast<int>(spec_.q_columns); }
  int least() const { return std::min(rows(), columns()); }
  int64_t FactorBytes() const {
    const int64_t bytes = least() * ByteWidth(spec_.dtype);
    return (bytes + kInfoBytes - 1) / kInfoBytes * kInfoBytes;
  }

  template <typename Do>
  absl::Status WithFunctions(Do f) const {
    const State& s = state_;
    switch (spec_.dtype) {
      case DType::kF32:
        return f(Geqrf<float>{s.cusolverDnSgeqrf_bufferSize, s.cusolverDnSgeqrf,
                              s.cusolverDnSorgqr_bufferSize,
                              s.cusolverDnSorgqr});
      case DType::kF64:
        return f(
            Geqrf<double>{s.cusolverDnDgeqrf_bufferSize, s.cusolverDnDgeqrf,
                          s.cusolverDnDorgqr_bufferSize, s.cusolverDnDorgqr});
      case DType::kC64:
        return f(Geqrf<cuComplex>{
            s.cusolverDnCgeqrf_bufferSize, s.cusolverDnCgeqrf,
            s.cusolverDnCungqr_bufferSize, s.cusolverDnCungqr});
      default:
        return f(Geqrf<cuDoubleComplex>{
            s.cusolverDnZgeqrf_bufferSize, s.cusolverDnZgeqrf,
            s.cusolverDnZungqr_bufferSize, s.cusolverDnZungqr});
    }
  }

  // The reflections of R are the first columns of what becomes Q.
  template <typename T>
  absl::Status Factored(const Geqrf<T>& f, cudaStream_t stream,
                        cusolverDnHandle_t handle,
                        const gpu::CallOperands& operands) const {
    const int64_t column = spec_.rows * ByteWidth(spec_.dtype);
    int* const info = static_cast<int*>(Pointer(operands.workspace));
    const gpu::DeviceAddress behind = operands.workspace + kInfoBytes;
    T* const factors = static_cast<T*>(Pointer(behind));
    T* const work = static_cast<T*>(Pointer(behind + FactorBytes()));
    for (int64_t k = 0; k < spec_.batch; ++k) {
      const gpu::DeviceAddress r =
          operands.results[0] + k * spec_.columns * column;
      const gpu::DeviceAddress q =
          operands.results[1] + k * spec_.q_columns * column;
      HAWSER_RETURN_IF_ERROR(CheckSolver(
          f.run(handle, rows(), columns(), static_cast<T*>(Pointer(r)), rows(),
                factors, work, work_elements_, info),
          "cusolver geqrf"));
      HAWSER_RETURN_IF_ERROR(
          CopyBefore(stream, q, r, least() * column, health_));
      // The library sets these columns of Q itself, but may read them first.
      HAWSER_RETURN_IF_ERROR(health_->Check(
          cudaMemsetAsync(Pointer(q + least() * column), 0,
                          static_cast<size_t>((q_columns() - least()) * column),
                          stream),
          "cudaMemsetAsync"));
      HAWSER_RETURN_IF_ERROR(
          CheckSolver(f.q_run(handle, rows(), q_columns(), least(),
                              static_cast<T*>(Pointer(q)), rows(), factors,
                              work, work_elements_, info),
                      "cusolver orgqr"));
    }
    return absl::OkStatus();
  }

  int work_elements_ = 0;
};

absl::StatusOr<std::shared_ptr<const PlannedCall>> CuSolver::Plan(
    const gpu::QrSpec& spec) const {
  HAWSER_RETURN_IF_ERROR(gpu::CheckCall(spec));
  if (!AreFactoredEach(spec.batch, std::max(spec.rows, spec.columns))) {
    return Unimplemented("qr: ", spec.batch, " matrices of ", spec.rows, " x ",
                         spec.columns);
  }
  MutexLock lock(&state_->planning);
  auto plan = std::make_shared<Qr>(state_.get(), health_, spec);
  HAWSER_RETURN_IF_ERROR(AsRefusal(plan->Make()));
  return plan;
}

}  // namespace hawser::cuda
