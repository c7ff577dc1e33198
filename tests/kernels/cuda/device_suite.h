// The kinds of gpu::Device, for tests that run on each of them.
#ifndef HAWSER_TESTS_KERNELS_CUDA_DEVICE_SUITE_H_
#define HAWSER_TESTS_KERNELS_CUDA_DEVICE_SUITE_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "tests/kernels/emu/bench.h"

namespace hawser::testing {

struct DeviceKind {
  const char* name;
  absl::StatusOr<std::unique_ptr<gpu::Device>> (*make)();
};
inline void PrintTo(const DeviceKind& kind, std::ostream* os) {
  *os << kind.name;
}

// A test for each kind of device; skipped, with the status as its reason, where
// there is no such device.
class DeviceTest : public ::testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override;

  gpu::Device& device() { return bench_->device(); }
  gpu::Stream stream() const { return bench_->stream(); }

  std::optional<Bench> bench_;
};

// "emu", "cuda"
::testing::internal::ParamGenerator<DeviceKind> EveryDevice();
std::string DeviceName(const ::testing::TestParamInfo<DeviceKind>& info);

#define HAWSER_ON_EVERY_DEVICE(Test) \
  INSTANTIATE_TEST_SUITE_P(On, Test, EveryDevice(), DeviceName)

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_KERNELS_CUDA_DEVICE_SUITE_H_
