#include "tests/kernels/cuda/device_suite.h"

#include <utility>

#include "kernels/cuda/cuda_device.h"
#include "kernels/emu/emu_device.h"

namespace hawser::testing {
namespace {

absl::StatusOr<std::unique_ptr<gpu::Device>> MakeEmu() {
  return emu::MakeEmuDevice({.seed = 1});
}
absl::StatusOr<std::unique_ptr<gpu::Device>> MakeCuda() {
  return cuda::MakeCudaDevice(0);
}

}  // namespace

void DeviceTest::SetUp() {
  auto device = GetParam().make();
  if (absl::IsUnavailable(device.status())) {
    GTEST_SKIP() << device.status().message();
  }
  ASSERT_EQ(device.status(), absl::OkStatus());
  bench_.emplace(*std::move(device));
}

::testing::internal::ParamGenerator<DeviceKind> EveryDevice() {
  return ::testing::Values(DeviceKind{"emu", MakeEmu},
                           DeviceKind{"cuda", MakeCuda});
}

std::string DeviceName(const ::testing::TestParamInfo<DeviceKind>& info) {
  return info.param.name;
}

}  // namespace hawser::testing
