#include "kernels/cuda/library_calls/cublas.h"

#include <cublas_v2.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/cuda/library_calls/planned/handles.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/cuda/products/blas_types.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {
namespace {

using gpu::MatrixUse;
using gpu::TriangularSolveSpec;

// clang-format off
#define HAWSER_CUBLAS_FUNCTIONS(X) \
  X(cublasCreate_v2) X(cublasDestroy_v2) X(cublasGetStatusString) \
  X(cublasSetStream_v2) X(cublasSetWorkspace_v2) X(cublasStrsm_v2) \
  X(cublasDtrsm_v2) X(cublasCtrsm_v2) X(cublasZtrsm_v2) \
  X(cublasStrsmBatched) X(cublasDtrsmBatched) X(cublasCtrsmBatched) \
  X(cublasZtrsmBatched)
// clang-format on

constexpr absl::string_view kBlasSonames[] = {"libcublas.so.13",
                                              "libcublas.so.12"};

// The library gets this memory beside its operands: with memory of its own it
// could not be captured.
constexpr int64_t kWorkspaceBytes = int64_t{4} << 20;
// Batched calls are for matrices that do not fill the device alone.
constexpr int64_t kBatchedProduct = 256;

HAWSER_CUDA_FUNCTION_TABLE(CublasFunctions, HAWSER_CUBLAS_FUNCTIONS);

template <typename T>
T One() {
  if constexpr (std::is_floating_point_v<T>) {
    return T{1};
  } else {
    return T{1, 0};
  }
}

// A row-major solve as the library is told it: its matrices are the transposes,
// so sides and triangles are exchanged, and op stays.
struct Problem {
  cublasSideMode_t side;
  cublasFillMode_t triangle;
  cublasOperation_t use;
  cublasDiagType_t diagonal;
  int rows, columns, size;  // of X as the library sees it; of A

  explicit Problem(const TriangularSolveSpec& s)
      : side(s.left_side ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT),
        triangle(s.lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER),
        use(s.use == MatrixUse::kAsIs         ? CUBLAS_OP_N
            : s.use == MatrixUse::kTransposed ? CUBLAS_OP_T
                                              : CUBLAS_OP_C),
        diagonal(s.unit_diagonal ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT),
        rows(static_cast<int>(s.columns)),
        columns(static_cast<int>(s.rows)),
        size(static_cast<int>(s.size())) {}
};

template <typename T>
using Trsm = cublasStatus_t(cublasHandle_t, cublasSideMode_t, cublasFillMode_t,
                            cublasOperation_t, cublasDiagType_t, int, int,
                            const T*, const T*, int, T*, int);
template <typename T>
using TrsmBatched = cublasStatus_t(cublasHandle_t, cublasSideMode_t,
                                   cublasFillMode_t, cublasOperation_t,
                                   cublasDiagType_t, int, int, const T*,
                                   const T* const*, int, T* const*, int, int);

}  // namespace

struct CuBlas::State : CublasFunctions {
  State()
      : handles([this](cudaStream_t stream) { return Make(stream); },
                [this](cublasHandle_t handle) { cublasDestroy_v2(handle); }) {}

  absl::Status Check(cublasStatus_t status, absl::string_view call) const {
    if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
    return absl::Status(
        CodeOf(status),
        absl::StrCat(call, ": ", cublasGetStatusString(status)));
  }

  absl::StatusOr<cublasHandle_t> Make(cudaStream_t stream) const {
    cublasHandle_t handle = nullptr;
    HAWSER_RETURN_IF_ERROR(Check(cublasCreate_v2(&handle), "cublasCreate"));
    const absl::Status set =
        Check(cublasSetStream_v2(handle, stream), "cublasSetStream");
    if (!set.ok()) {
      cublasDestroy_v2(handle);
      return set;
    }
    return handle;
  }

  Handles<cublasHandle_t> handles;
};

class CuBlas::Solve final : public PlannedCall {
 public:
  Solve(const State* state, DeviceHealth* health,
        const TriangularSolveSpec& spec)
      : state_(*state), health_(health), spec_(spec) {}

  // The addresses of A and X of each matrix lie behind the library's own part.
  int64_t workspace_bytes() const override {
    return kWorkspaceBytes + (is_batched() ? 2 * PointerBytes() : 0);
  }
  bool may_block() const override {
    return gpu::MayBlock(gpu::LibraryCall(spec_));
  }

  absl::Status Run(cudaStream_t stream,
                   const gpu::CallOperands& operands) const override {
    const gpu::CallBytes bytes = gpu::BytesOf(spec_);
    HAWSER_RETURN_IF_ERROR(gpu::CheckOperands(bytes, operands));
    HAWSER_RETURN_IF_ERROR(CopyBefore(stream, operands.results[0],
                                      operands.operands[1], bytes.results[0],
                                      health_));
    HAWSER_ASSIGN_OR_RETURN(const cublasHandle_t handle,
                            state_.handles.Of(stream));
    HAWSER_RETURN_IF_ERROR(
        state_.Check(state_.cublasSetWorkspace_v2(
                         handle, Pointer(operands.workspace), kWorkspaceBytes),
                     "cublasSetWorkspace"));
    const absl::Status status = Solved(stream, handle, operands);
    return status.ok() ? status
                       : AfterFailure(status, stream, "cublas trsm", health_);
  }

 private:
  bool is_batched() const {
    return spec_.batch > 1 &&
           std::max(spec_.rows, spec_.columns) <= kBatchedProduct;
  }
  int64_t PointerBytes() const {
    return spec_.batch * static_cast<int64_t>(sizeof(void*));
  }

  absl::Status Solved(cudaStream_t stream, cublasHandle_t handle,
                      const gpu::CallOperands& operands) const {
    switch (spec_.dtype) {
      case DType::kF32:
        return Solved(*state_.cublasStrsm_v2, *state_.cublasStrsmBatched,
                      stream, handle, operands);
      case DType::kF64:
        return Solved(*state_.cublasDtrsm_v2, *state_.cublasDtrsmBatched,
                      stream, handle, operands);
      case DType::kC64:
        return Solved(*state_.cublasCtrsm_v2, *state_.cublasCtrsmBatched,
                      stream, handle, operands);
      default:
        return Solved(*state_.cublasZtrsm_v2, *state_.cublasZtrsmBatched,
                      stream, handle, operands);
    }
  }

  template <typename T>
  absl::Status Solved(Trsm<T>& one, TrsmBatched<T>& batched,
                      cudaStream_t stream, cublasHandle_t handle,
                      const gpu::CallOperands& operands) const {
    const Problem p(spec_);
    const T alpha = One<T>();
    const gpu::DeviceAddress a = operands.operands[0], x = operands.results[0];
    const auto width = static_cast<int64_t>(sizeof(T));
    const int64_t a_bytes = spec_.size() * spec_.size() * width;
    const int64_t x_bytes = spec_.rows * spec_.columns * width;
    if (is_batched()) {
      const gpu::DeviceAddress of_a = operands.workspace + kWorkspaceBytes;
      const gpu::DeviceAddress of_x = of_a + PointerBytes();
      HAWSER_RETURN_IF_ERROR(
          PutPointers(stream, of_a, a, a_bytes, spec_.batch, health_));
      HAWSER_RETURN_IF_ERROR(
          PutPointers(stream, of_x, x, x_bytes, spec_.batch, health_));
      return state_.Check(batched(handle, p.side, p.triangle, p.use, p.diagonal,
                                  p.rows, p.columns, &alpha,
                                  static_cast<const T* const*>(Pointer(of_a)),
                                  p.size, static_cast<T* const*>(Pointer(of_x)),
                                  p.rows, static_cast<int>(spec_.batch)),
                          "cublas trsmBatched");
    }
    for (int64_t k = 0; k < spec_.batch; ++k) {
      HAWSER_RETURN_IF_ERROR(state_.Check(
          one(handle, p.side, p.triangle, p.use, p.diagonal, p.rows, p.columns,
              &alpha, static_cast<const T*>(Pointer(a + k * a_bytes)), p.size,
              static_cast<T*>(Pointer(x + k * x_bytes)), p.rows),
          "cublas trsm"));
    }
    return absl::OkStatus();
  }

  const State& state_;
  DeviceHealth* const health_;
  const TriangularSolveSpec spec_;
};

CuBlas::CuBlas(DeviceHealth* health)
    : health_(health), state_(std::make_unique<State>()) {}

CuBlas::~CuBlas() = default;

absl::StatusOr<std::unique_ptr<CuBlas>> CuBlas::Open(
    const LibraryPlaces& places, DeviceHealth* health) {
  HAWSER_ASSIGN_OR_RETURN(const Library library,
                          Library::Open(places, kBlasSonames));
  auto blas = std::unique_ptr<CuBlas>(new CuBlas(health));
  HAWSER_RETURN_IF_ERROR(blas->state_->Load(library));
  return blas;
}

absl::StatusOr<std::shared_ptr<const PlannedCall>> CuBlas::Plan(
    const TriangularSolveSpec& spec) const {
  HAWSER_RETURN_IF_ERROR(gpu::CheckCall(spec));
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (std::max({spec.rows, spec.columns, spec.batch}) > kMost) {
    return Unimplemented("triangular solve: ", spec.batch, " of ", spec.rows,
                         " x ", spec.columns);
  }
  return std::make_shared<const Solve>(state_.get(), health_, spec);
}

}  // namespace hawser::cuda
