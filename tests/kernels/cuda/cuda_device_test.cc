// The CUDA device on a runtime without a GPU (fake_runtime.h): what it does
// with the runtime's answers.
#include "kernels/cuda/cuda_device.h"

#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "kernels/cuda/compile/nvrtc.h"
#include "kernels/cuda/watchdog.h"
#include "tests/kernels/cuda/fake_runtime.h"

// The library forgets memory where it finds no driver.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libcublasLt";
}

namespace hawser::testing {
namespace {

using absl::OkStatus;
using Arg = gpu::KernelArgument;

// Kernels have any text: nothing is compiled.
class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeRuntime::Reset();
    auto made = cuda::MakeCudaDevice(0, {.libraries = {}});
    ASSERT_EQ(made.status(), OkStatus());
    device_ = *std::move(made);
    stream_ = *device_->CreateStream(0);
  }
  void TearDown() override {
    device_ = nullptr;
    EXPECT_EQ(fake().LiveObjects(), 0);
    EXPECT_EQ(fake().live_bytes, 0u);
  }
  static FakeRuntime& fake() { return FakeRuntime::Get(); }

  gpu::Kernel Kernel(const std::string& name) {
    if (!module_) {
      module_ = *device_->LoadModule(device_->compiler_id() + "\ncode");
    }
    return *device_->FindKernel(module_, name);
  }
  absl::Status Launch(gpu::Kernel kernel, uint64_t address = 256,
                      float by = 1) {
    return device_->Launch(
        stream_, kernel, {.grid = {7, 2, 3}, .threads = 64},
        {Arg::Range({address}, 4, gpu::Access::kRead), Arg::Scalar(by)});
  }
  gpu::Graph Capture(gpu::Kernel kernel, uint64_t address) {
    EXPECT_EQ(device_->BeginCapture(stream_), OkStatus());
    EXPECT_EQ(Launch(kernel, address), OkStatus());
    return *device_->EndCapture(stream_);
  }

  // The status of every call after one has returned the fatal `status`.
  static absl::Status Lost(const absl::Status& status) {
    return absl::UnavailableError(
        absl::StrCat("the device is lost: ", status.message()));
  }

  std::unique_ptr<gpu::Device> device_;
  gpu::Stream stream_;
  gpu::KernelModule module_;
};

TEST_F(CudaDeviceTest, ReadsTheFacts) {
  const gpu::DeviceFacts& f = device_->facts();
  EXPECT_EQ(f.platform, "cuda");
  EXPECT_EQ(f.name, "fake GPU");
  EXPECT_EQ(f.target, "sm_90");
  EXPECT_EQ(f.max_shared_bytes_per_block, 227 << 10);
  EXPECT_NEAR(f.bytes_per_second, 4.9e12, 0.05e12);
  EXPECT_TRUE(absl::StrContains(f.versions, "driver 13.0, runtime 13.0"));
}

TEST_F(CudaDeviceTest, ExistsWithoutItsLibraries) {
  // With an empty list of places only the loader's own folders are searched.
  const absl::StatusOr<gpu::KernelBinary> binary =
      device_->Compile("k.cu", "HK_GLOBAL k() {}", {});
  const absl::Status plan =
      device_->PlanCall(gpu::GemmSpec{.m = 1, .n = 1, .k = 1}).status();
  if (!binary.ok()) {
    EXPECT_TRUE(absl::IsFailedPrecondition(binary.status()));
    EXPECT_TRUE(absl::StrContains(binary.status().message(), "libnvrtc.so"));
    EXPECT_TRUE(absl::StrContains(device_->compiler_id(), "no nvrtc"));
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(plan)) << plan;
  EXPECT_EQ(device_->Health(), OkStatus());
}

// A kernel on disk that was compiled with other flags is another kernel.
TEST_F(CudaDeviceTest, FlagsOfTheCompilerAreInItsId) {
  const std::string flags = cuda::Nvrtc::flags();
  EXPECT_TRUE(absl::StrContains(device_->compiler_id(), flags));
  EXPECT_TRUE(absl::StrContains(flags, "--fmad=true"));
  EXPECT_TRUE(absl::StrContains(flags, "--fmad=false"));
  EXPECT_TRUE(absl::StrContains(flags, "-std=c++17"));
}

TEST_F(CudaDeviceTest, NoDeviceHasTheRuntimesWords) {
  fake().devices = 0;
  EXPECT_TRUE(absl::IsUnavailable(cuda::MakeCudaDevice(0).status()));
  fake().devices = 2;
  fake().next["cudaGetDeviceCount"] = cudaErrorInsufficientDriver;
  const absl::Status status = cuda::CudaDeviceCount().status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "a planned error"));
  const absl::Status third = cuda::MakeCudaDevice(2).status();
  EXPECT_TRUE(absl::IsUnavailable(third));
  EXPECT_TRUE(absl::StrContains(third.message(), "no CUDA device 2"));
}

TEST_F(CudaDeviceTest, EveryStepOfMakingOneMayFail) {
  for (const char* call :
       {"cudaGetDeviceCount", "cudaSetDevice", "cudaGetDeviceProperties",
        "cudaDeviceGetAttribute", "cudaMemPoolCreate",
        "cudaMemPoolSetAttribute"}) {
    const int live = fake().LiveObjects();
    fake().next[call] = cudaErrorDevicesUnavailable;
    EXPECT_TRUE(absl::IsUnavailable(
        cuda::MakeCudaDevice(0, {.libraries = {}}).status()))
        << call;
    EXPECT_EQ(fake().LiveObjects(), live) << call;
  }
}

TEST_F(CudaDeviceTest, FullMemoryIsTrimmedAndTriedAgain) {
  fake().next["cudaMallocFromPoolAsync"] = cudaErrorMemoryAllocation;
  const auto address = device_->Allocate(stream_, 1000);
  ASSERT_EQ(address.status(), OkStatus());
  EXPECT_EQ(fake().trims, 1);
  const absl::Status status =
      device_->Allocate(stream_, int64_t{1} << 31).status();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_TRUE(absl::StrContains(status.message(), "2147483648 bytes asked"));
  EXPECT_TRUE(absl::StrContains(status.message(), "1000 in use")) << status;
  EXPECT_EQ(fake().trims, 2);
  EXPECT_EQ(device_->Health(), OkStatus());
}

TEST_F(CudaDeviceTest, WhatIsLeftGoesWithTheDevice) {
  EXPECT_EQ(device_->Allocate(stream_, 10).status(), OkStatus());
  EXPECT_EQ(device_->AllocatePinned(10).status(), OkStatus());
  EXPECT_EQ(device_->CreateEvent().status(), OkStatus());
  EXPECT_EQ(device_->Instantiate(Capture(Kernel("k"), 0)).status(),
            OkStatus());
  EXPECT_GE(fake().LiveObjects(), 7);
}

TEST_F(CudaDeviceTest, ALaunchArrivesAsItIsMeant) {
  ASSERT_EQ(Launch(Kernel("k"), 0x1234500), OkStatus());
  ASSERT_EQ(fake().launches.size(), 1u);
  const FakeLaunch& launch = fake().launches[0];
  EXPECT_EQ(launch.kernel, "k");
  EXPECT_EQ(launch.grid.x, 7u);
  EXPECT_EQ(launch.grid.y, 2u);
  EXPECT_EQ(launch.grid.z, 3u);
  EXPECT_EQ(launch.block.x, 64u);
  EXPECT_EQ(launch.block.y * launch.block.z, 1u);
  EXPECT_EQ(launch.arguments,
            (std::vector<uint64_t>{0x1234500, 0x3f800000}));  // 1.0f
  // All shared memory but the kernel's own kilobyte.
  EXPECT_EQ(fake().shared_limits["k"], (227 << 10) - 1024);
}

TEST_F(CudaDeviceTest, OnlyKernelsOfTheCompilerAreLoaded) {
  for (const std::string& bytes :
       {std::string(), std::string("code"), device_->compiler_id(),
        device_->compiler_id() + "x\ncode"}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(device_->LoadModule(bytes).status()));
  }
  const gpu::Kernel kernel = Kernel("k");
  EXPECT_EQ(kernel, Kernel("k"));
  EXPECT_TRUE(
      absl::IsNotFound(device_->FindKernel(module_, "no_such").status()));
  EXPECT_EQ(device_->UnloadModule(module_), OkStatus());
  EXPECT_TRUE(absl::IsInvalidArgument(Launch(kernel)));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->UnloadModule(module_)));
}

TEST_F(CudaDeviceTest, AGraphIsUpdatedOnlyToTheSameSteps) {
  const gpu::Kernel k = Kernel("k"), other = Kernel("other");
  const gpu::GraphExec exec = *device_->Instantiate(Capture(k, 0x100));
  EXPECT_TRUE(fake().launches.empty());
  EXPECT_TRUE(*device_->Update(exec, Capture(k, 0x200)));
  EXPECT_FALSE(*device_->Update(exec, Capture(other, 0x300)));
  const gpu::Graph again = Capture(k, 0x400);
  fake().next["cudaGraphExecUpdate"] = cudaErrorGraphExecUpdateFailure;
  EXPECT_FALSE(*device_->Update(exec, again));
  ASSERT_EQ(device_->LaunchGraph(stream_, exec), OkStatus());
  ASSERT_EQ(fake().launches.size(), 1u);
  EXPECT_EQ(fake().launches[0].arguments[0], 0x200u);
  EXPECT_EQ(device_->Health(), OkStatus());
}

TEST_F(CudaDeviceTest, ACaptureEndsWithTheFirstRefusal) {
  const gpu::Kernel k = Kernel("k");
  ASSERT_EQ(device_->BeginCapture(stream_), OkStatus());
  EXPECT_EQ(Launch(k), OkStatus());
  const absl::Status refused =
      device_->Launch(stream_, k, {.threads = 33}, {});
  EXPECT_TRUE(absl::IsInvalidArgument(refused));
  EXPECT_TRUE(absl::IsFailedPrecondition(device_->AwaitStream(stream_)));
  EXPECT_EQ(device_->EndCapture(stream_).status(), refused);
  EXPECT_EQ(Launch(k), OkStatus());
  EXPECT_EQ(fake().launches.size(), 1u);
}

TEST_F(CudaDeviceTest, AFaultNamesItsKernelsAndEndsTheDevice) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    ASSERT_EQ(Launch(Kernel(name)), OkStatus());
  }
  fake().lost = cudaErrorIllegalAddress;
  const absl::Status status = device_->AwaitStream(stream_);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "cudaStreamQuery, behind kernels b, c, d, e: "))
      << status;
  fake().lost = cudaSuccess;  // the device stays lost
  const absl::Status lost = Lost(status);
  EXPECT_EQ(device_->Health(), lost);
  EXPECT_EQ(device_->Allocate(stream_, 1).status(), lost);
  EXPECT_EQ(device_->CreateEvent().status(), lost);
  EXPECT_EQ(device_->AwaitStream(stream_), lost);
  EXPECT_EQ(device_->Notify(stream_, [](absl::Status) { FAIL(); }), lost);
  EXPECT_EQ(device_->memory().live_allocations, 0);
}

TEST_F(CudaDeviceTest, AnEventKnowsTheKernelsInFrontOfIt) {
  const gpu::Event event = *device_->CreateEvent();
  const gpu::Kernel k = Kernel("k");
  const gpu::GraphExec exec =
      *device_->Instantiate(Capture(Kernel("captured"), 0));
  ASSERT_EQ(Launch(k), OkStatus());
  ASSERT_EQ(device_->LaunchGraph(stream_, exec), OkStatus());
  ASSERT_EQ(device_->RecordEvent(stream_, event), OkStatus());
  ASSERT_EQ(Launch(k), OkStatus());
  fake().next["cudaEventQuery"] = cudaErrorIllegalAddress;
  const absl::Status status = device_->AwaitEvent(event);
  EXPECT_TRUE(absl::StrContains(status.message(),
                                "cudaEventQuery, behind kernels captured: "))
      << status;
  EXPECT_EQ(Launch(k), Lost(status));
}

TEST_F(CudaDeviceTest, ANoticeHearsOfTheFault) {
  ASSERT_EQ(Launch(Kernel("k")), OkStatus());
  fake().next["callback"] = cudaErrorMisalignedAddress;
  absl::Status told = OkStatus();
  EXPECT_EQ(device_->Notify(stream_,
                            [&](absl::Status status) { told = status; }),
            OkStatus());
  EXPECT_TRUE(absl::IsInternal(told));
  EXPECT_TRUE(absl::StrContains(told.message(), "behind kernels k")) << told;
  EXPECT_EQ(device_->Health(), Lost(told));
}

// Asking whether an event is done, or freeing, does not take a fault from the
// run that waits for it.
TEST_F(CudaDeviceTest, AFaultIsToldToTheThreadThatWaits) {
  const gpu::Event event = *device_->CreateEvent();
  const auto memory = *device_->Allocate(stream_, 8);
  fake().lost = cudaErrorIllegalAddress;
  EXPECT_TRUE(absl::IsInternal(device_->IsDone(event).status()));
  EXPECT_TRUE(absl::IsInternal(device_->Free(stream_, memory)));
  EXPECT_TRUE(absl::IsInternal(device_->TrimMemory()));
  EXPECT_EQ(device_->Health(), OkStatus());
  const absl::Status status = device_->AwaitEvent(event);
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_EQ(device_->Health(), Lost(status));
  fake().lost = cudaSuccess;
}

TEST_F(CudaDeviceTest, ADeviceThatIsSilentIsGivenUp) {
  auto made = cuda::MakeCudaDevice(
      0, {.libraries = {}, .patience = absl::Milliseconds(60)});
  ASSERT_EQ(made.status(), OkStatus());
  gpu::Device& device = **made;
  const gpu::Stream stream = *device.CreateStream(0);
  const gpu::Event event = *device.CreateEvent();
  EXPECT_EQ(device.AwaitEvent(event), OkStatus());
  fake().hangs = true;
  const absl::Time begin = absl::Now();
  const absl::Status status = device.AwaitEvent(event);
  EXPECT_GE(absl::Now() - begin, absl::Milliseconds(60));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(10));
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "not got anything done"))
      << status;
  EXPECT_TRUE(absl::IsUnavailable(device.Health()));
  // Every later wait returns without delay.
  EXPECT_TRUE(absl::IsUnavailable(device.AwaitStream(stream)));
  EXPECT_TRUE(absl::IsUnavailable(device.DestroyStream(stream)));
  fake().hangs = false;
}

// A long kernel is no failure while other streams make progress.
TEST(Watchdog, CountsTimeWithoutProgressAlone) {
  cuda::Watchdog watchdog(absl::Milliseconds(40));
  cuda::Watchdog::Wait wait(&watchdog);
  absl::Time now = absl::UnixEpoch();
  for (int i = 0; i < 5; ++i, now += absl::Milliseconds(39)) {
    watchdog.Progressed();
    ASSERT_EQ(wait.Pause(now), OkStatus());
  }
  ASSERT_EQ(wait.Pause(now), OkStatus());
  const absl::Status silent = wait.Pause(now + absl::Milliseconds(1));
  EXPECT_TRUE(absl::IsUnavailable(silent));
  EXPECT_TRUE(absl::StrContains(silent.message(), "40ms")) << silent;
}

TEST_F(CudaDeviceTest, TakesNoMoreMemoryThanItMay) {
  auto made = cuda::MakeCudaDevice(0, {.libraries = {}, .memory_limit = 1000});
  ASSERT_EQ(made.status(), OkStatus());
  gpu::Device& device = **made;
  EXPECT_EQ(device.facts().memory_bytes, 1000);
  const gpu::Stream stream = *device.CreateStream(0);
  const auto most = device.Allocate(stream, 900);
  ASSERT_EQ(most.status(), OkStatus());
  const absl::Status refused = device.Allocate(stream, 101).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_TRUE(absl::StrContains(refused.message(), "100 left of the 1000"))
      << refused;
  EXPECT_EQ(device.Allocate(stream, 100).status(), OkStatus());
  EXPECT_EQ(device.Free(stream, *most), OkStatus());
  // A failed allocation is not counted against the limit.
  fake().total_bytes = 200;
  EXPECT_TRUE(absl::IsResourceExhausted(device.Allocate(stream, 900).status()));
  fake().total_bytes = size_t{1} << 30;
  EXPECT_EQ(device.Allocate(stream, 900).status(), OkStatus());
}

TEST_F(CudaDeviceTest, ANoticeThatIsRefusedIsNotCalled) {
  fake().next["cudaStreamAddCallback"] = cudaErrorInvalidValue;
  EXPECT_TRUE(absl::IsInvalidArgument(
      device_->Notify(stream_, [](absl::Status) { FAIL(); })));
}

}  // namespace
}  // namespace hawser::testing
