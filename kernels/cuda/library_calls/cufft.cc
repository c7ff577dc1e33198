#include "kernels/cuda/library_calls/cufft.h"

#include <cufft.h>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "kernels/cuda/library_calls/planned/library_status.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::cuda {
namespace {

using gpu::FftKind;
using gpu::FftSpec;

// clang-format off
#define HAWSER_CUFFT_FUNCTIONS(X) \
  X(cufftCreate) X(cufftDestroy) X(cufftGetVersion) \
  X(cufftSetAutoAllocation) X(cufftMakePlanMany64) X(cufftSetStream) \
  X(cufftSetWorkArea) X(cufftExecC2C) X(cufftExecZ2Z) X(cufftExecR2C) \
  X(cufftExecD2Z) X(cufftExecC2R) X(cufftExecZ2D)
// clang-format on

constexpr absl::string_view kFftSonames[] = {"libcufft.so.12",
                                             "libcufft.so.11"};

// Complex and real numbers, as the library's kernels load them.
constexpr uint64_t kAlignment = 16;

HAWSER_CUDA_FUNCTION_TABLE(CufftFunctions, HAWSER_CUFFT_FUNCTIONS);

absl::Status Check(cufftResult result, absl::string_view call) {
  absl::StatusCode code = absl::StatusCode::kInternal;
  switch (result) {
    case CUFFT_SUCCESS:
      return absl::OkStatus();
    case CUFFT_ALLOC_FAILED:
      code = absl::StatusCode::kResourceExhausted;
      break;
    case CUFFT_INVALID_VALUE:
      code = absl::StatusCode::kInvalidArgument;
      break;
    case CUFFT_INVALID_TYPE:
    case CUFFT_INVALID_SIZE:
    case CUFFT_NOT_IMPLEMENTED:
    case CUFFT_NOT_SUPPORTED:
      code = absl::StatusCode::kUnimplemented;
      break;
    case CUFFT_SETUP_FAILED:
    case CUFFT_MISSING_DEPENDENCY:
      code = absl::StatusCode::kFailedPrecondition;
      break;
    default:
      break;
  }
  return absl::Status(
      code, absl::StrCat(call, ": cuFFT error ", static_cast<int>(result)));
}

cufftType TypeOf(const FftSpec& spec) {
  const bool wide = spec.complex == DType::kC128;
  switch (spec.kind) {
    case FftKind::kRealForward:
      return wide ? CUFFT_D2Z : CUFFT_R2C;
    case FftKind::kRealInverse:
      return wide ? CUFFT_Z2D : CUFFT_C2R;
    default:
      return wide ? CUFFT_Z2Z : CUFFT_C2C;
  }
}

}  // namespace

struct CuFft::Functions : CufftFunctions {
  // Runs the plan of `spec`, whose type decides the call.
  cufftResult Execute(cufftHandle plan, const FftSpec& spec, void* from,
                      void* to) const {
    const int direction =
        spec.kind == FftKind::kForward ? CUFFT_FORWARD : CUFFT_INVERSE;
    switch (TypeOf(spec)) {
      case CUFFT_C2C:
        return cufftExecC2C(plan, static_cast<cufftComplex*>(from),
                            static_cast<cufftComplex*>(to), direction);
      case CUFFT_Z2Z:
        return cufftExecZ2Z(plan, static_cast<cufftDoubleComplex*>(from),
                            static_cast<cufftDoubleComplex*>(to), direction);
      case CUFFT_R2C:
        return cufftExecR2C(plan, static_cast<cufftReal*>(from),
                            static_cast<cufftComplex*>(to));
      case CUFFT_D2Z:
        return cufftExecD2Z(plan, static_cast<cufftDoubleReal*>(from),
                            static_cast<cufftDoubleComplex*>(to));
      case CUFFT_C2R:
        return cufftExecC2R(plan, static_cast<cufftComplex*>(from),
                            static_cast<cufftReal*>(to));
      case CUFFT_Z2D:
        return cufftExecZ2D(plan, static_cast<cufftDoubleComplex*>(from),
                            static_cast<cufftDoubleReal*>(to));
    }
    return CUFFT_INVALID_TYPE;
  }
};

// A plan of the library holds its stream and work area from one call to the
// next, so the mutex makes them one with the call that they are for.
class CuFft::Transform final : public PlannedCall {
 public:
  Transform(const Functions* functions, DeviceHealth* health,
            const FftSpec& spec)
      : functions_(*functions), health_(health), spec_(spec) {}
  ~Transform() override {
    if (made_) functions_.cufftDestroy(plan_);
  }

  absl::Status Make() {
    HAWSER_RETURN_IF_ERROR(
        Check(functions_.cufftCreate(&plan_), "cufftCreate"));
    made_ = true;
    HAWSER_RETURN_IF_ERROR(Check(functions_.cufftSetAutoAllocation(plan_, 0),
                                 "cufftSetAutoAllocation"));
    long long lengths[3] = {};
    for (size_t k = 0; k < spec_.lengths.size(); ++k) {
      lengths[k] = spec_.lengths[k];
    }
    return Check(
        functions_.cufftMakePlanMany64(
            plan_, static_cast<int>(spec_.lengths.size()), lengths, nullptr, 1,
            0, nullptr, 1, 0, TypeOf(spec_), spec_.batch, &workspace_bytes_),
        "cufftMakePlanMany64");
  }

  int64_t workspace_bytes() const override {
    return static_cast<int64_t>(workspace_bytes_);
  }

  absl::Status Run(cudaStream_t stream,
                   const gpu::CallOperands& operands) const override {
    const gpu::DeviceAddress from = operands.operands[0];
    const gpu::DeviceAddress to = operands.results[0];
    if ((from.value | to.value) % kAlignment != 0) {
      return Unimplemented("fft: operands that are not aligned to ", kAlignment,
                           " bytes");
    }
    const absl::Status status =
        Execute(stream, Pointer(from), Pointer(to), operands.workspace);
    return status.ok() ? status
                       : AfterFailure(status, stream, "cufftExec", health_);
  }

 private:
  absl::Status Execute(cudaStream_t stream, void* from, void* to,
                       gpu::DeviceAddress workspace) const {
    MutexLock lock(&mu_);
    HAWSER_RETURN_IF_ERROR(
        Check(functions_.cufftSetStream(plan_, stream), "cufftSetStream"));
    if (workspace_bytes_ > 0) {
      HAWSER_RETURN_IF_ERROR(
          Check(functions_.cufftSetWorkArea(plan_, Pointer(workspace)),
                "cufftSetWorkArea"));
    }
    return Check(functions_.Execute(plan_, spec_, from, to), "cufftExec");
  }

  const Functions& functions_;
  DeviceHealth* const health_;
  const FftSpec spec_;
  mutable Mutex mu_;
  cufftHandle plan_ = 0;
  bool made_ = false;
  size_t workspace_bytes_ = 0;
};

CuFft::CuFft(DeviceHealth* health)
    : health_(health), functions_(std::make_unique<Functions>()) {}

CuFft::~CuFft() = default;

absl::StatusOr<std::unique_ptr<CuFft>> CuFft::Open(const LibraryPlaces& places,
                                                   DeviceHealth* health) {
  HAWSER_ASSIGN_OR_RETURN(const Library library,
                          Library::Open(places, kFftSonames));
  auto fft = std::unique_ptr<CuFft>(new CuFft(health));
  HAWSER_RETURN_IF_ERROR(fft->functions_->Load(library));
  int version = 0;
  HAWSER_RETURN_IF_ERROR(
      Check(fft->functions_->cufftGetVersion(&version), "cufftGetVersion"));
  fft->version_ = absl::StrCat("cuFFT ", version);
  return fft;
}

absl::StatusOr<std::shared_ptr<const PlannedCall>> CuFft::Plan(
    const FftSpec& spec) const {
  HAWSER_RETURN_IF_ERROR(gpu::CheckCall(spec));
  auto transform = std::make_shared<Transform>(functions_.get(), health_, spec);
  HAWSER_RETURN_IF_ERROR(AsRefusal(transform->Make()));
  return transform;
}

}  // namespace hawser::cuda
