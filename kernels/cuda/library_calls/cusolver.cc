#include "kernels/cuda/library_calls/cusolver.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/cuda/library_calls/cusolver_state.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {
namespace {

using gpu::FactorizationSpec;

constexpr absl::string_view kSolverSonames[] = {"libcusolver.so.12",
                                                "libcusolver.so.11"};

// Batched calls are for matrices that do not fill the device alone.
constexpr int64_t kBatchedSize = 512;

cudaDataType TypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return CUDA_R_32F;
    case DType::kF64:
      return CUDA_R_64F;
    case DType::kC64:
      return CUDA_C_32F;
    default:
      return CUDA_C_64F;
  }
}

// The library's matrices are the transposes of row-major ones, so the triangle
// is the other one.
cublasFillMode_t TriangleOf(const FactorizationSpec& spec) {
  return spec.lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}

struct WorkBytes {
  size_t device = 0, host = 0;
};

}  // namespace

absl::Status CheckSolver(cusolverStatus_t status, absl::string_view call) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  switch (status) {
    case CUSOLVER_STATUS_SUCCESS:
      return absl::OkStatus();
    case CUSOLVER_STATUS_ALLOC_FAILED:
      code = absl::StatusCode::kResourceExhausted;
      break;
    case CUSOLVER_STATUS_INVALID_VALUE:
      code = absl::StatusCode::kInvalidArgument;
      break;
    case CUSOLVER_STATUS_NOT_SUPPORTED:
    case CUSOLVER_STATUS_ARCH_MISMATCH:
    case CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED:
      code = absl::StatusCode::kUnimplemented;
      break;
    case CUSOLVER_STATUS_NOT_INITIALIZED:
      code = absl::StatusCode::kFailedPrecondition;
      break;
    default:
      break;
  }
  return absl::Status(
      code, absl::StrCat(call, ": cuSOLVER error ", static_cast<int>(status)));
}

// L L^H or U^H U. The library's U of a transposed matrix is, in memory, the L
// of the matrix, complex or not.
class CuSolver::Cholesky final : public InPlace<FactorizationSpec> {
 public:
  Cholesky(const State* state, DeviceHealth* health,
           const FactorizationSpec& spec)
      : InPlace(state, health, spec, "cusolver potrf", {{0, 0}}) {}

  absl::Status Make() {
    if (is_batched()) return absl::OkStatus();
    HAWSER_ASSIGN_OR_RETURN(const cusolverDnHandle_t handle,
                            state_.handles.Of(nullptr));
    const cudaDataType type = TypeOf(spec_.dtype);
    return CheckSolver(
        state_.cusolverDnXpotrf_bufferSize(
            handle, state_.params, TriangleOf(spec_), spec_.size, type,
            AnyPointer(), spec_.size, type, &work_.device, &work_.host),
        "cusolverDnXpotrf_bufferSize");
  }

  int64_t workspace_bytes() const override {
    if (is_batched()) {
      return spec_.batch * static_cast<int64_t>(sizeof(void*));
    }
    return static_cast<int64_t>(work_.device);
  }

 private:
  absl::Status Call(cudaStream_t stream, cusolverDnHandle_t handle,
                    const gpu::CallOperands& operands) const override {
    return is_batched() ? RunBatched(stream, handle, operands)
                        : RunEach(stream, handle, operands);
  }
  bool is_batched() const {
    return spec_.batch > 1 && spec_.size <= kBatchedSize &&
           spec_.batch <= std::numeric_limits<int>::max();
  }
  int64_t MatrixBytes() const {
    return spec_.size * spec_.size * ByteWidth(spec_.dtype);
  }

  absl::Status RunEach(cudaStream_t stream, cusolverDnHandle_t handle,
                       const gpu::CallOperands& operands) const {
    std::vector<char> host(work_.host);
    const cudaDataType type = TypeOf(spec_.dtype);
    int* const info = static_cast<int*>(Pointer(operands.results[1]));
    for (int64_t k = 0; k < spec_.batch; ++k) {
      HAWSER_RETURN_IF_ERROR(CheckSolver(
          state_.cusolverDnXpotrf(
              handle, state_.params, TriangleOf(spec_), spec_.size, type,
              Pointer(operands.results[0] + k * MatrixBytes()), spec_.size,
              type, Pointer(operands.workspace), work_.device, host.data(),
              work_.host, info + k),
          "cusolverDnXpotrf"));
    }
    return AwaitHostBytes(stream, host.size());
  }

  absl::Status RunBatched(cudaStream_t stream, cusolverDnHandle_t handle,
                          const gpu::CallOperands& operands) const {
    HAWSER_RETURN_IF_ERROR(PutPointers(stream, operands.workspace,
                                       operands.results[0], MatrixBytes(),
                                       spec_.batch, health_));
    void* const matrices = Pointer(operands.workspace);
    const auto run = [&](auto* function, auto** typed) {
      const int n = static_cast<int>(spec_.size);
      return CheckSolver(
          function(handle, TriangleOf(spec_), n, typed, n,
                   static_cast<int*>(Pointer(operands.results[1])),
                   static_cast<int>(spec_.batch)),
          "cusolver potrfBatched");
    };
    switch (spec_.dtype) {
      case DType::kF32:
        return run(state_.cusolverDnSpotrfBatched,
                   static_cast<float**>(matrices));
      case DType::kF64:
        return run(state_.cusolverDnDpotrfBatched,
                   static_cast<double**>(matrices));
      case DType::kC64:
        return run(state_.cusolverDnCpotrfBatched,
                   static_cast<cuComplex**>(matrices));
      default:
        return run(state_.cusolverDnZpotrfBatched,
                   static_cast<cuDoubleComplex**>(matrices));
    }
  }

  WorkBytes work_;
};

// w and v^H. The library's matrix is the conjugate of the Hermitian one, and
// its eigenvectors, as columns in memory, are rows of v^H.
class CuSolver::Eigh final : public InPlace<FactorizationSpec> {
 public:
  Eigh(const State* state, DeviceHealth* health, const FactorizationSpec& spec)
      : InPlace(state, health, spec, "cusolver syevd", {{0, 1}}) {}

  absl::Status Make() {
    HAWSER_ASSIGN_OR_RETURN(const cusolverDnHandle_t handle,
                            state_.handles.Of(nullptr));
    const cudaDataType type = TypeOf(spec_.dtype), real = RealType();
    if (is_batched()) {
      return CheckSolver(state_.batches.cusolverDnXsyevBatched_bufferSize(
                             handle, state_.params, CUSOLVER_EIG_MODE_VECTOR,
                             TriangleOf(spec_), spec_.size, type, AnyPointer(),
                             spec_.size, real, AnyPointer(), type,
                             &work_.device, &work_.host, spec_.batch),
                         "cusolverDnXsyevBatched_bufferSize");
    }
    return CheckSolver(
        state_.cusolverDnXsyevd_bufferSize(
            handle, state_.params, CUSOLVER_EIG_MODE_VECTOR, TriangleOf(spec_),
            spec_.size, type, AnyPointer(), spec_.size, real, AnyPointer(),
            type, &work_.device, &work_.host),
        "cusolverDnXsyevd_bufferSize");
  }

  int64_t workspace_bytes() const override {
    return static_cast<int64_t>(work_.device);
  }

 private:
  absl::Status Call(cudaStream_t stream, cusolverDnHandle_t handle,
                    const gpu::CallOperands& operands) const override {
    std::vector<char> host(work_.host);
    HAWSER_RETURN_IF_ERROR(Solved(handle, operands, host.data()));
    return AwaitHostBytes(stream, host.size());
  }
  bool is_batched() const { return spec_.batch > 1 && state_.has_batches; }
  cudaDataType RealType() const { return TypeOf(RealPart(spec_.dtype)); }

  absl::Status Solved(cusolverDnHandle_t handle,
                      const gpu::CallOperands& operands, char* host) const {
    const cudaDataType type = TypeOf(spec_.dtype), real = RealType();
    const gpu::DeviceAddress w = operands.results[0], v = operands.results[1];
    int* const info = static_cast<int*>(Pointer(operands.results[2]));
    if (is_batched()) {
      return CheckSolver(
          state_.batches.cusolverDnXsyevBatched(
              handle, state_.params, CUSOLVER_EIG_MODE_VECTOR,
              TriangleOf(spec_), spec_.size, type, Pointer(v), spec_.size, real,
              Pointer(w), type, Pointer(operands.workspace), work_.device, host,
              work_.host, info, spec_.batch),
          "cusolverDnXsyevBatched");
    }
    const int64_t values = spec_.size * ByteWidth(RealPart(spec_.dtype));
    const int64_t vectors = spec_.size * spec_.size * ByteWidth(spec_.dtype);
    for (int64_t k = 0; k < spec_.batch; ++k) {
      HAWSER_RETURN_IF_ERROR(CheckSolver(
          state_.cusolverDnXsyevd(handle, state_.params,
                                  CUSOLVER_EIG_MODE_VECTOR, TriangleOf(spec_),
                                  spec_.size, type, Pointer(v + k * vectors),
                                  spec_.size, real, Pointer(w + k * values),
                                  type, Pointer(operands.workspace),
                                  work_.device, host, work_.host, info + k),
          "cusolverDnXsyevd"));
    }
    return absl::OkStatus();
  }

  WorkBytes work_;
};

CuSolver::CuSolver(DeviceHealth* health)
    : health_(health), state_(std::make_unique<State>()) {}

CuSolver::~CuSolver() = default;

absl::StatusOr<std::unique_ptr<CuSolver>> CuSolver::Open(
    const LibraryPlaces& places, DeviceHealth* health) {
  HAWSER_ASSIGN_OR_RETURN(const Library library,
                          Library::Open(places, kSolverSonames));
  auto solver = std::unique_ptr<CuSolver>(new CuSolver(health));
  State& state = *solver->state_;
  HAWSER_RETURN_IF_ERROR(state.Load(library));
  state.has_batches = state.batches.Load(library).ok();
  HAWSER_RETURN_IF_ERROR(CheckSolver(
      state.cusolverDnCreateParams(&state.params), "cusolverDnCreateParams"));
  return solver;
}

absl::StatusOr<std::shared_ptr<const PlannedCall>> CuSolver::Plan(
    const FactorizationSpec& spec) const {
  HAWSER_RETURN_IF_ERROR(gpu::CheckCall(spec));
  MutexLock lock(&state_->planning);
  if (spec.kind == gpu::Factorization::kLu) return PlanLu(spec);
  if (spec.kind == gpu::Factorization::kCholesky) {
    auto plan = std::make_shared<Cholesky>(state_.get(), health_, spec);
    HAWSER_RETURN_IF_ERROR(AsRefusal(plan->Make()));
    return plan;
  }
  auto plan = std::make_shared<Eigh>(state_.get(), health_, spec);
  HAWSER_RETURN_IF_ERROR(AsRefusal(plan->Make()));
  return plan;
}

}  // namespace hawser::cuda
