#include "kernels/cuda/products/cublaslt.h"

#include <cublasLt.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/cuda/products/blas_types.h"
#include "kernels/cuda/products/gemm_layout.h"

namespace hawser::cuda {
namespace {

using gpu::GemmSpec;

#define HAWSER_CUBLASLT_FUNCTIONS(X)                                           \
  X(cublasLtCreate)                                                            \
  X(cublasLtDestroy) X(cublasLtGetVersion) X(cublasLtGetStatusString)          \
      X(cublasLtMatmul) X(cublasLtMatmulAlgoGetHeuristic)                      \
          X(cublasLtMatmulDescInit_internal) X(cublasLtMatmulDescSetAttribute) \
              X(cublasLtMatrixLayoutInit_internal)                             \
                  X(cublasLtMatrixLayoutSetAttribute)                          \
                      X(cublasLtMatmulPreferenceInit_internal)                 \
                          X(cublasLtMatmulPreferenceSetAttribute)

constexpr absl::string_view kSonames[] = {"libcublasLt.so.13",
                                          "libcublasLt.so.12"};

// The usual alignment of buffers; there is another algorithm for the others.
constexpr uint32_t kAlignment = gpu::GemmSpec::kAlignment;

void* Pointer(gpu::DeviceAddress address) {
  return reinterpret_cast<void*>(address.value);
}

}  // namespace

// Descriptors of a product and the algorithms chosen for it. They never change,
// but the library takes pointers to non-const.
class BlasPlan {
 public:
  GemmSpec spec;
  bool is_empty = false;  // nothing is to be computed
  bool is_swapped = false;
  BlasScale alpha, beta;
  cublasLtMatmulDescOpaque_t operation = {};
  mutable cublasLtMatrixLayoutOpaque_t first = {}, second = {}, c = {}, d = {};
  cublasLtMatmulAlgo_t aligned = {}, any = {};  // by kAlignment
  bool takes_any = false;                       // `any` exists
  size_t workspace_bytes = 0;                   // the greater of both
};

HAWSER_CUDA_FUNCTION_TABLE(CublasLtFunctions, HAWSER_CUBLASLT_FUNCTIONS);

struct CublasLt::Functions : CublasLtFunctions {
  absl::Status Check(cublasStatus_t status, absl::string_view call) const;
  absl::Status Layout(const BlasMatrix& matrix, cudaDataType_t type,
                      int64_t batch, cublasLtMatrixLayoutOpaque_t* out) const;
  absl::Status SetBias(const void* bias,
                       cublasLtMatmulDescOpaque_t* operation) const {
    return Check(
        cublasLtMatmulDescSetAttribute(
            operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias)),
        "cublasLtMatmulDescSetAttribute");
  }
  absl::Status Describe(const BlasTypes& types, const BlasProblem& problem,
                        BlasPlan* plan) const;
  // The best algorithm for buffers of at least this alignment.
  absl::StatusOr<cublasLtMatmulHeuristicResult_t> Choose(
      cublasLtHandle_t handle, const BlasPlan& plan, uint32_t alignment) const;
};

absl::Status CublasLt::Functions::Check(cublasStatus_t status,
                                        absl::string_view call) const {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return absl::Status(
      CodeOf(status),
      absl::StrCat(call, ": ", cublasLtGetStatusString(status)));
}

absl::Status CublasLt::Functions::Layout(
    const BlasMatrix& matrix, cudaDataType_t type, int64_t batch,
    cublasLtMatrixLayoutOpaque_t* out) const {
  HAWSER_RETURN_IF_ERROR(Check(
      cublasLtMatrixLayoutInit_internal(out, sizeof(*out), type, matrix.rows,
                                        matrix.columns, matrix.leading),
      "cublasLtMatrixLayoutInit"));
  const int32_t count = static_cast<int32_t>(batch);
  if (count != batch) return Unimplemented("gemm: ", batch, " products");
  HAWSER_RETURN_IF_ERROR(
      Check(cublasLtMatrixLayoutSetAttribute(
                out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
            "cublasLtMatrixLayoutSetAttribute"));
  return Check(cublasLtMatrixLayoutSetAttribute(
                   out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                   &matrix.batch_stride, sizeof(matrix.batch_stride)),
               "cublasLtMatrixLayoutSetAttribute");
}

absl::Status CublasLt::Functions::Describe(const BlasTypes& types,
                                           const BlasProblem& problem,
                                           BlasPlan* plan) const {
  const GemmSpec& spec = plan->spec;
  const bool is_tf32 = spec.precision == gpu::GemmPrecision::kTf32;
  cublasLtMatmulDescOpaque_t* operation = &plan->operation;
  HAWSER_RETURN_IF_ERROR(
      Check(cublasLtMatmulDescInit_internal(operation, sizeof(*operation),
                                            is_tf32 ? types.tf32 : types.full,
                                            types.scale_type),
            "cublasLtMatmulDescInit"));
  const auto use = [](const BlasMatrix& matrix) -> int32_t {
    return matrix.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const int32_t first = use(problem.first), second = use(problem.second);
  const uint32_t epilogue = BlasEpilogueOf(spec);
  const struct {
    cublasLtMatmulDescAttributes_t attribute;
    const void* value;
    size_t bytes;
  } attributes[] = {
      {CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first)},
      {CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second)},
      {CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)},
  };
  for (const auto& [attribute, value, bytes] : attributes) {
    HAWSER_RETURN_IF_ERROR(Check(
        cublasLtMatmulDescSetAttribute(operation, attribute, value, bytes),
        "cublasLtMatmulDescSetAttribute"));
  }
  plan->is_swapped = problem.is_swapped;
  HAWSER_RETURN_IF_ERROR(
      Layout(problem.first, types.factor_type, spec.batch, &plan->first));
  HAWSER_RETURN_IF_ERROR(
      Layout(problem.second, types.factor_type, spec.batch, &plan->second));
  HAWSER_RETURN_IF_ERROR(
      Layout(problem.c, types.result_type, spec.batch, &plan->c));
  return Layout(problem.d, types.result_type, spec.batch, &plan->d);
}

absl::StatusOr<cublasLtMatmulHeuristicResult_t> CublasLt::Functions::Choose(
    cublasLtHandle_t handle, const BlasPlan& plan, uint32_t alignment) const {
  cublasLtMatmulPreferenceOpaque_t preference = {};
  HAWSER_RETURN_IF_ERROR(Check(
      cublasLtMatmulPreferenceInit_internal(&preference, sizeof(preference)),
      "cublasLtMatmulPreferenceInit"));
  const uint64_t workspace = static_cast<uint64_t>(
      std::max<int64_t>(plan.spec.max_workspace_bytes, 0));
  // Partial sums keep the precision they were computed in.
  const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const struct {
    cublasLtMatmulPreferenceAttributes_t attribute;
    const void* value;
    size_t bytes;
  } attributes[] = {
      {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof(workspace)},
      {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions,
       sizeof(reductions)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &alignment,
       sizeof(alignment)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &alignment,
       sizeof(alignment)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &alignment,
       sizeof(alignment)},
      {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &alignment,
       sizeof(alignment)},
  };
  for (const auto& [attribute, value, bytes] : attributes) {
    HAWSER_RETURN_IF_ERROR(Check(cublasLtMatmulPreferenceSetAttribute(
                                     &preference, attribute, value, bytes),
                                 "cublasLtMatmulPreferenceSetAttribute"));
  }
  cublasLtMatmulDescOpaque_t operation = plan.operation;
  if (plan.spec.has_bias) {
    // The heuristic reads the alignment of the address only.
    HAWSER_RETURN_IF_ERROR(SetBias(
        reinterpret_cast<const void*>(uintptr_t{alignment}), &operation));
  }
  cublasLtMatmulHeuristicResult_t result = {};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      handle, &operation, &plan.first, &plan.second, &plan.c, &plan.d,
      &preference, 1, &result, &count);
  if (status != CUBLAS_STATUS_SUCCESS || count == 0 ||
      result.state != CUBLAS_STATUS_SUCCESS) {
    const GemmSpec& s = plan.spec;
    return Unimplemented(
        "gemm: cuBLASLt has no algorithm for ", s.batch, " x ", s.m, " x ", s.n,
        " x ", s.k, " ", DTypeName(s.a.dtype), " -> ", DTypeName(s.d.dtype),
        " at alignment ", alignment, ": ",
        cublasLtGetStatusString(
            status != CUBLAS_STATUS_SUCCESS ? status : result.state));
  }
  return result;
}

CublasLt::CublasLt(DeviceHealth* health)
    : health_(health), functions_(std::make_unique<Functions>()) {}

CublasLt::~CublasLt() {
  if (handle_ != nullptr) {
    functions_->cublasLtDestroy(static_cast<cublasLtHandle_t>(handle_));
  }
}

absl::StatusOr<std::unique_ptr<CublasLt>> CublasLt::Open(
    const LibraryPlaces& places, DeviceHealth* health) {
  HAWSER_ASSIGN_OR_RETURN(const Library library,
                          Library::Open(places, kSonames));
  auto lt = std::unique_ptr<CublasLt>(new CublasLt(health));
  Functions& f = *lt->functions_;
  HAWSER_RETURN_IF_ERROR(f.Load(library));
  cublasLtHandle_t handle = nullptr;
  HAWSER_RETURN_IF_ERROR(f.Check(f.cublasLtCreate(&handle), "cublasLtCreate"));
  lt->handle_ = handle;
  lt->version_ = absl::StrCat("cublasLt ", f.cublasLtGetVersion());
  return lt;
}

absl::StatusOr<std::shared_ptr<const BlasPlan>> CublasLt::Plan(
    const GemmSpec& spec) const {
  HAWSER_ASSIGN_OR_RETURN(const BlasProblem problem, ToBlasProblem(spec));
  HAWSER_ASSIGN_OR_RETURN(const BlasTypes types, BlasTypesOf(spec));
  auto plan = std::make_shared<BlasPlan>();
  plan->spec = spec;
  plan->is_empty = spec.batch == 0 || spec.m == 0 || spec.n == 0;
  if (plan->is_empty) return plan;
  if (spec.k == 0) return Unimplemented("gemm: sums of no products");
  HAWSER_ASSIGN_OR_RETURN(plan->alpha,
                          BlasScaleOf(types.scale_type, spec.alpha));
  HAWSER_ASSIGN_OR_RETURN(
      plan->beta, BlasScaleOf(types.scale_type, spec.has_c ? spec.beta : 0));
  HAWSER_RETURN_IF_ERROR(functions_->Describe(types, problem, plan.get()));
  const auto handle = static_cast<cublasLtHandle_t>(handle_);
  HAWSER_ASSIGN_OR_RETURN(const cublasLtMatmulHeuristicResult_t aligned,
                          functions_->Choose(handle, *plan, kAlignment));
  // If there is no such algorithm, unaligned buffers are refused when they
  // come.
  const auto element = static_cast<uint32_t>(
      std::min(ByteWidth(spec.a.dtype), ByteWidth(spec.d.dtype)));
  absl::StatusOr<cublasLtMatmulHeuristicResult_t> any =
      functions_->Choose(handle, *plan, element);
  plan->aligned = aligned.algo;
  plan->workspace_bytes = aligned.workspaceSize;
  if (!spec.is_aligned) HAWSER_RETURN_IF_ERROR(any);
  plan->takes_any = any.ok();
  if (any.ok()) {
    plan->any = any->algo;
    plan->workspace_bytes = std::max(plan->workspace_bytes, any->workspaceSize);
  }
  return plan;
}

int64_t CublasLt::WorkspaceBytes(const BlasPlan& plan) {
  return static_cast<int64_t>(plan.workspace_bytes);
}

absl::Status CublasLt::Run(cudaStream_t stream, const BlasPlan& plan,
                           const gpu::GemmOperands& operands) const {
  if (plan.is_empty) return absl::OkStatus();
  const GemmSpec& spec = plan.spec;
  const gpu::DeviceAddress c = spec.has_c ? operands.c : operands.d;
  const gpu::DeviceAddress bias =
      spec.has_bias ? operands.bias : gpu::DeviceAddress();
  const uint64_t all = operands.a.value | operands.b.value | operands.d.value |
                       c.value | bias.value;
  const bool is_aligned = all % kAlignment == 0;
  if (!is_aligned && !plan.takes_any) {
    return Unimplemented("gemm: operands that are not aligned to ", kAlignment,
                         " bytes");
  }
  cublasLtMatmulDescOpaque_t operation = plan.operation;
  if (spec.has_bias) {
    HAWSER_RETURN_IF_ERROR(functions_->SetBias(Pointer(bias), &operation));
  }
  const auto [first, second] = plan.is_swapped
                                   ? std::pair(operands.b, operands.a)
                                   : std::pair(operands.a, operands.b);
  const cublasStatus_t status = functions_->cublasLtMatmul(
      static_cast<cublasLtHandle_t>(handle_), &operation, plan.alpha.bytes,
      Pointer(first), &plan.first, Pointer(second), &plan.second,
      plan.beta.bytes, Pointer(c), &plan.c, Pointer(operands.d), &plan.d,
      is_aligned ? &plan.aligned : &plan.any, Pointer(operands.workspace),
      plan.workspace_bytes, stream);
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  // The library has a CUDA runtime of its own, so this one holds no error of
  // it; a lost device shows all the same.
  const cudaError_t error = cudaStreamQuery(stream);
  if (IsFatal(error)) return health_->Check(error, "cublasLtMatmul");
  cudaGetLastError();
  return functions_->Check(status, "cublasLtMatmul");
}

}  // namespace hawser::cuda
