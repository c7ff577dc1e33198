// A kernel's fault ends its device, and every later call returns it. A GPU is
// lost for the whole process, so no other test may run after this one.
#include <gtest/gtest.h>

#include <vector>

#include "absl/strings/match.h"
#include "core/base/mutex.h"
#include "tests/kernels/cuda/device_suite.h"

namespace hawser::testing {
namespace {

using absl::OkStatus;

class DeviceFaultTest : public DeviceTest {};
HAWSER_ON_EVERY_DEVICE(DeviceFaultTest);

TEST_P(DeviceFaultTest, EndsTheDeviceAndTellsEveryone) {
  const gpu::Kernel kernel =
      bench_->Kernel("HK_GLOBAL far_off(float* y, u64 far) {\n"
                     "  Store(y + far + HK_TID, 1.0f);\n}",
                     "far_off");
  const absl::Status before = bench_->status();
  if (absl::IsFailedPrecondition(before)) GTEST_SKIP() << before.message();
  const auto y = bench_->Make<float>(32);
  Mutex mu;
  CondVar changed;
  absl::Status told = absl::UnknownError("nothing yet");
  const std::vector<gpu::KernelArgument> arguments = {
      y.Write(), gpu::KernelArgument::Scalar(uint64_t{1} << 40)};
  ASSERT_EQ(device().Launch(stream(), kernel, {.threads = 32}, arguments),
            OkStatus());
  // The fault may have been noticed before; then the notice is refused.
  const absl::Status queued =
      device().Notify(stream(), [&](absl::Status status) {
        MutexLock lock(&mu);
        told = status;
        changed.SignalAll();
      });
  const absl::Status status = device().AwaitStream(stream());
  const absl::Status lost = device().Health();
  EXPECT_TRUE(absl::IsUnavailable(lost)) << lost;
  EXPECT_EQ(device().Launch(stream(), kernel, {.threads = 32}, arguments),
            lost);
  EXPECT_EQ(device().Allocate(stream(), 4).status(), lost);
  if (queued.ok()) {
    MutexLock lock(&mu);
    changed.Wait(&mu, [&] { return !absl::IsUnknown(told); });
  } else {
    told = queued;
  }
  // The first wait returns the fault, the other one that the device is lost.
  const bool is_first = absl::IsInternal(status);
  const absl::Status& fault = is_first ? status : told;
  EXPECT_TRUE(absl::IsInternal(fault)) << fault;
  EXPECT_TRUE(absl::StrContains(fault.message(), "far_off")) << fault;
  EXPECT_EQ(is_first ? told : status, lost);
  EXPECT_TRUE(absl::StrContains(lost.message(), fault.message())) << lost;
}

}  // namespace
}  // namespace hawser::testing
