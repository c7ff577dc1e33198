// A kernel that does wrong ends its device, and everyone is told. Of a GPU it
// is the end for the whole process: nothing else may be tested behind it.
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
  // The device may be found out already; then the notice is refused.
  const absl::Status queued =
      device().Notify(stream(), [&](absl::Status status) {
        MutexLock lock(&mu);
        told = status;
        changed.SignalAll();
      });
  const absl::Status status = device().AwaitStream(stream());
  EXPECT_TRUE(absl::IsInternal(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "far_off")) << status;
  EXPECT_EQ(device().Health(), status);
  EXPECT_EQ(device().Launch(stream(), kernel, {.threads = 32}, arguments),
            status);
  EXPECT_EQ(device().Allocate(stream(), 4).status(), status);
  if (!queued.ok()) return;
  MutexLock lock(&mu);
  changed.Wait(&mu, [&] { return !absl::IsUnknown(told); });
  EXPECT_EQ(told, status);
}

}  // namespace
}  // namespace hawser::testing
