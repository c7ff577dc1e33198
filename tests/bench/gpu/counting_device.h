// CountingDevice: a device, and how much work it was asked to do.
#ifndef HAWSER_TESTS_BENCH_GPU_COUNTING_DEVICE_H_
#define HAWSER_TESTS_BENCH_GPU_COUNTING_DEVICE_H_

#include <atomic>
#include <cstdint>

#include "tests/kernels/gpu/forwarding_device.h"

namespace hawser::bench {

// Things that were queued, or written down during a capture.
struct WorkCounts {
  int64_t launches = 0;
  int64_t products = 0;  // and other calls of libraries
  int64_t copies = 0;    // from device to device
};

// Thread-safe.
class CountingDevice : public gpu::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  // Since the last call.
  WorkCounts TakeCounts() {
    return {launches_.exchange(0), products_.exchange(0), copies_.exchange(0)};
  }

  absl::Status Launch(
      gpu::Stream stream, gpu::Kernel kernel, const gpu::LaunchShape& shape,
      absl::Span<const gpu::KernelArgument> arguments) override {
    ++launches_;
    return ForwardingDevice::Launch(stream, kernel, shape, arguments);
  }
  absl::Status RunCall(gpu::Stream stream, gpu::CallPlan plan,
                       const gpu::CallOperands& operands) override {
    ++products_;
    return ForwardingDevice::RunCall(stream, plan, operands);
  }
  absl::Status CopyOnDevice(gpu::Stream stream, gpu::DeviceAddress to,
                            gpu::DeviceAddress from, int64_t bytes) override {
    ++copies_;
    return ForwardingDevice::CopyOnDevice(stream, to, from, bytes);
  }

 private:
  std::atomic<int64_t> launches_{0}, products_{0}, copies_{0};
};

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_COUNTING_DEVICE_H_
