#include "kernels/cuda/runtime/errors.h"

#include <cuda_runtime_api.h>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::cuda {
namespace {

using absl::StatusCode;

struct Row {
  cudaError_t error;
  StatusCode code;
  bool is_fatal = false;
};

// Codes without a row are kInternal and not fatal.
constexpr Row kRows[] = {
    {cudaErrorMemoryAllocation, StatusCode::kResourceExhausted},

    // There is no device, or none for this process.
    {cudaErrorInitializationError, StatusCode::kUnavailable},
    {cudaErrorCudartUnloading, StatusCode::kUnavailable},
    {cudaErrorStubLibrary, StatusCode::kUnavailable},
    {cudaErrorInsufficientDriver, StatusCode::kUnavailable},
    {cudaErrorCallRequiresNewerDriver, StatusCode::kUnavailable},
    {cudaErrorDevicesUnavailable, StatusCode::kUnavailable},
    {cudaErrorNoDevice, StatusCode::kUnavailable},
    {cudaErrorInvalidDevice, StatusCode::kUnavailable},
    {cudaErrorDeviceNotLicensed, StatusCode::kUnavailable},
    {cudaErrorDeviceUninitialized, StatusCode::kUnavailable},
    {cudaErrorOperatingSystem, StatusCode::kUnavailable},
    {cudaErrorSystemNotReady, StatusCode::kUnavailable},
    {cudaErrorSystemDriverMismatch, StatusCode::kUnavailable},
    {cudaErrorCompatNotSupportedOnDevice, StatusCode::kUnavailable},
    {cudaErrorMpsConnectionFailed, StatusCode::kUnavailable},
    {cudaErrorMpsRpcFailure, StatusCode::kUnavailable},
    {cudaErrorMpsServerNotReady, StatusCode::kUnavailable},
    {cudaErrorMpsMaxClientsReached, StatusCode::kUnavailable},
    {cudaErrorMpsMaxConnectionsReached, StatusCode::kUnavailable},

    // The device failed, not a program on it.
    {cudaErrorECCUncorrectable, StatusCode::kUnavailable, true},
    {cudaErrorNvlinkUncorrectable, StatusCode::kUnavailable, true},
    {cudaErrorContained, StatusCode::kUnavailable, true},
    {cudaErrorExternalDevice, StatusCode::kUnavailable, true},
    {cudaErrorMpsClientTerminated, StatusCode::kUnavailable, true},

    // A kernel violated a rule.
    {cudaErrorIllegalAddress, StatusCode::kInternal, true},
    {cudaErrorLaunchTimeout, StatusCode::kInternal, true},
    {cudaErrorAssert, StatusCode::kInternal, true},
    {cudaErrorHardwareStackError, StatusCode::kInternal, true},
    {cudaErrorIllegalInstruction, StatusCode::kInternal, true},
    {cudaErrorMisalignedAddress, StatusCode::kInternal, true},
    {cudaErrorInvalidAddressSpace, StatusCode::kInternal, true},
    {cudaErrorInvalidPc, StatusCode::kInternal, true},
    {cudaErrorLaunchFailure, StatusCode::kInternal, true},
    {cudaErrorTensorMemoryLeak, StatusCode::kInternal, true},
    {cudaErrorUnknown, StatusCode::kInternal, true},

    // A call with wrong arguments.
    {cudaErrorInvalidValue, StatusCode::kInvalidArgument},
    {cudaErrorInvalidConfiguration, StatusCode::kInvalidArgument},
    {cudaErrorInvalidDeviceFunction, StatusCode::kInvalidArgument},
    {cudaErrorInvalidKernelImage, StatusCode::kInvalidArgument},
    {cudaErrorNoKernelImageForDevice, StatusCode::kInvalidArgument},
    {cudaErrorInvalidPtx, StatusCode::kInvalidArgument},
    {cudaErrorInvalidResourceHandle, StatusCode::kInvalidArgument},
    {cudaErrorLaunchOutOfResources, StatusCode::kInvalidArgument},
    {cudaErrorSymbolNotFound, StatusCode::kNotFound},

    // A call at the wrong time, or without something it needs.
    {cudaErrorNotReady, StatusCode::kFailedPrecondition},
    {cudaErrorJitCompilerNotFound, StatusCode::kFailedPrecondition},
    {cudaErrorUnsupportedPtxVersion, StatusCode::kFailedPrecondition},
    {cudaErrorJitCompilationDisabled, StatusCode::kFailedPrecondition},
    {cudaErrorSharedObjectSymbolNotFound, StatusCode::kFailedPrecondition},
    {cudaErrorSharedObjectInitFailed, StatusCode::kFailedPrecondition},
    {cudaErrorNotPermitted, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureUnsupported, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureInvalidated, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureMerge, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureUnmatched, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureUnjoined, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureIsolation, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureImplicit, StatusCode::kFailedPrecondition},
    {cudaErrorCapturedEvent, StatusCode::kFailedPrecondition},
    {cudaErrorStreamCaptureWrongThread, StatusCode::kFailedPrecondition},

    {cudaErrorNotYetImplemented, StatusCode::kUnimplemented},
    {cudaErrorNotSupported, StatusCode::kUnimplemented},
};

Row RowOf(cudaError_t error) {
  for (const Row& row : kRows) {
    if (row.error == error) return row;
  }
  return {error, StatusCode::kInternal};
}

}  // namespace

absl::Status ToStatus(cudaError_t error, absl::string_view call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::Status(RowOf(error).code,
                      absl::StrCat(call, ": ", cudaGetErrorString(error), " (",
                                   cudaGetErrorName(error), ")"));
}

bool IsFatal(cudaError_t error) { return RowOf(error).is_fatal; }

absl::Status DeviceHealth::status() const {
  if (!is_lost_.load(std::memory_order_acquire)) return absl::OkStatus();
  MutexLock lock(&mu_);
  return status_;
}

absl::Status DeviceHealth::Check(cudaError_t error, absl::string_view call,
                                 absl::string_view detail) {
  if (error == cudaSuccess) [[likely]]
    return absl::OkStatus();
  cudaGetLastError();  // clears it: a later launch would seem to have failed
  return Judge(error, call, detail);
}

absl::Status DeviceHealth::Judge(cudaError_t error, absl::string_view call,
                                 absl::string_view detail) {
  if (error == cudaSuccess) return absl::OkStatus();
  const absl::Status status =
      ToStatus(error, absl::StrCat(call, detail.empty() ? "" : ", ", detail));
  if (IsFatal(error)) return End(status);
  MutexLock lock(&mu_);
  return status_.ok() ? status : status_;
}

absl::Status DeviceHealth::Peek(cudaError_t error,
                                absl::string_view call) const {
  if (error == cudaSuccess) [[likely]]
    return absl::OkStatus();
  cudaGetLastError();
  const absl::Status lost = status();
  return lost.ok() ? ToStatus(error, call) : lost;
}

absl::Status DeviceHealth::End(const absl::Status& why) {
  MutexLock lock(&mu_);
  if (!status_.ok()) return status_;
  status_ = Unavailable("the device is lost: ", why.message());
  is_lost_.store(true, std::memory_order_release);
  return why;
}

}  // namespace hawser::cuda
