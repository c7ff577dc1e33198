// The runtime's errors as statuses.
#include "kernels/cuda/runtime/errors.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hawser::cuda {
namespace {

using absl::StatusCode;

TEST(CudaErrors, HaveTheCodesOfDeviceApi) {
  struct Case {
    cudaError_t error;
    StatusCode code;
    bool is_fatal;
  };
  const Case cases[] = {
      {cudaSuccess, StatusCode::kOk, false},
      {cudaErrorMemoryAllocation, StatusCode::kResourceExhausted, false},
      {cudaErrorInsufficientDriver, StatusCode::kUnavailable, false},
      {cudaErrorNoDevice, StatusCode::kUnavailable, false},
      {cudaErrorDevicesUnavailable, StatusCode::kUnavailable, false},
      {cudaErrorECCUncorrectable, StatusCode::kUnavailable, true},
      {cudaErrorNvlinkUncorrectable, StatusCode::kUnavailable, true},
      {cudaErrorContained, StatusCode::kUnavailable, true},
      {cudaErrorIllegalAddress, StatusCode::kInternal, true},
      {cudaErrorMisalignedAddress, StatusCode::kInternal, true},
      {cudaErrorAssert, StatusCode::kInternal, true},
      {cudaErrorLaunchTimeout, StatusCode::kInternal, true},
      {cudaErrorLaunchFailure, StatusCode::kInternal, true},
      {cudaErrorInvalidValue, StatusCode::kInvalidArgument, false},
      {cudaErrorInvalidConfiguration, StatusCode::kInvalidArgument, false},
      {cudaErrorLaunchOutOfResources, StatusCode::kInvalidArgument, false},
      {cudaErrorInvalidKernelImage, StatusCode::kInvalidArgument, false},
      {cudaErrorSymbolNotFound, StatusCode::kNotFound, false},
      {cudaErrorStreamCaptureUnsupported, StatusCode::kFailedPrecondition,
       false},
      {cudaErrorStreamCaptureInvalidated, StatusCode::kFailedPrecondition,
       false},
      {cudaErrorUnsupportedPtxVersion, StatusCode::kFailedPrecondition, false},
      {cudaErrorNotSupported, StatusCode::kUnimplemented, false},
      // A code without a row.
      {cudaErrorProfilerDisabled, StatusCode::kInternal, false},
  };
  for (const Case& c : cases) {
    const absl::Status status = ToStatus(c.error, "cudaSomething");
    EXPECT_EQ(status.code(), c.code) << c.error;
    EXPECT_EQ(IsFatal(c.error), c.is_fatal) << c.error;
  }
}

TEST(CudaErrors, NameTheCallAndTheRuntimesWords) {
  EXPECT_EQ(ToStatus(cudaErrorIllegalAddress, "cudaEventSynchronize"),
            absl::InternalError(
                "cudaEventSynchronize: an illegal memory access was "
                "encountered (cudaErrorIllegalAddress)"));
}

TEST(DeviceHealth, TheFirstFatalErrorEndsTheDevice) {
  DeviceHealth health;
  EXPECT_EQ(health.Check(cudaSuccess, "a"), absl::OkStatus());
  EXPECT_TRUE(absl::IsResourceExhausted(
      health.Check(cudaErrorMemoryAllocation, "b")));
  EXPECT_EQ(health.status(), absl::OkStatus());
  const absl::Status fault = health.Check(cudaErrorMisalignedAddress,
                                          "cudaStreamSynchronize",
                                          "behind kernels softmax");
  EXPECT_TRUE(absl::IsInternal(fault));
  EXPECT_TRUE(absl::StrContains(
      fault.message(), "cudaStreamSynchronize, behind kernels softmax: "))
      << fault;
  // The run gets kInternal; every later call gets kUnavailable.
  const absl::Status lost = absl::UnavailableError(
      absl::StrCat("the device is lost: ", fault.message()));
  EXPECT_EQ(health.status(), lost);
  EXPECT_EQ(health.Check(cudaErrorInvalidValue, "c"), lost);
  EXPECT_EQ(health.Judge(cudaErrorECCUncorrectable, "d"), lost);
  EXPECT_EQ(health.Peek(cudaErrorMisalignedAddress, "e"), lost);
  EXPECT_EQ(health.End(absl::UnknownError("f")), lost);
}

TEST(DeviceHealth, AGlanceEndsNothing) {
  DeviceHealth health;
  EXPECT_TRUE(
      absl::IsInternal(health.Peek(cudaErrorIllegalAddress, "cudaFreeAsync")));
  EXPECT_EQ(health.status(), absl::OkStatus());
  EXPECT_EQ(health.Peek(cudaSuccess, "cudaFreeAsync"), absl::OkStatus());
}

}  // namespace
}  // namespace hawser::cuda
