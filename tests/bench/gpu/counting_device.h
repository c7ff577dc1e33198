// CountingDevice: a device, how much work it was asked to do, and how long each
// piece of it took.
#ifndef HAWSER_TESTS_BENCH_GPU_COUNTING_DEVICE_H_
#define HAWSER_TESTS_BENCH_GPU_COUNTING_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "core/base/status.h"
#include "tests/kernels/gpu/forwarding_device.h"

namespace hawser::bench {

// Things that were queued, or written down during a capture.
struct WorkCounts {
  int64_t launches = 0;
  int64_t products = 0;  // and other calls of libraries
  int64_t copies = 0;    // from device to device
};

// A launch or library call, by the device's clock.
struct TimedWork {
  std::string name;  // "row_3 [528,1,1] x 256", or "library call"
  double us = 0;
};

// Thread-safe.
class CountingDevice : public gpu::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  // Since the last call.
  WorkCounts TakeCounts() {
    return {launches_.exchange(0), products_.exchange(0), copies_.exchange(0)};
  }
  // From now on every launch and library call lies between two events. Not while
  // anything is captured.
  void StartTiming() { is_timing_ = true; }
  // Ends that: the pieces in the order in which they were queued, all of which
  // are done.
  absl::StatusOr<std::vector<TimedWork>> TakeTimes() {
    is_timing_ = false;
    const absl::MutexLock lock(&mu_);
    std::vector<TimedWork> times;
    for (const Span& span : spans_) {
      HAWSER_ASSIGN_OR_RETURN(const double seconds,
                              SecondsBetween(span.first, span.last));
      times.push_back({span.name, seconds * 1e6});
      HAWSER_RETURN_IF_ERROR(DestroyEvent(span.first));
      HAWSER_RETURN_IF_ERROR(DestroyEvent(span.last));
    }
    spans_.clear();
    return times;
  }

  absl::StatusOr<gpu::Kernel> FindKernel(gpu::KernelModule module,
                                         absl::string_view name) override {
    HAWSER_ASSIGN_OR_RETURN(const gpu::Kernel kernel,
                            ForwardingDevice::FindKernel(module, name));
    const absl::MutexLock lock(&mu_);
    names_[kernel.value] = std::string(name);
    return kernel;
  }
  absl::Status Launch(
      gpu::Stream stream, gpu::Kernel kernel, const gpu::LaunchShape& shape,
      absl::Span<const gpu::KernelArgument> arguments) override {
    ++launches_;
    return Timed(
        stream,
        [&] {
          const absl::MutexLock lock(&mu_);
          return absl::StrCat(names_[kernel.value], " [", shape.grid.x, ",",
                              shape.grid.y, ",", shape.grid.z, "] x ",
                              shape.threads);
        },
        [&] {
          return ForwardingDevice::Launch(stream, kernel, shape, arguments);
        });
  }
  absl::Status RunCall(gpu::Stream stream, gpu::CallPlan plan,
                       const gpu::CallOperands& operands) override {
    ++products_;
    return Timed(
        stream, [] { return std::string("library call"); },
        [&] { return ForwardingDevice::RunCall(stream, plan, operands); });
  }
  absl::Status CopyOnDevice(gpu::Stream stream, gpu::DeviceAddress to,
                            gpu::DeviceAddress from, int64_t bytes) override {
    ++copies_;
    return ForwardingDevice::CopyOnDevice(stream, to, from, bytes);
  }

 private:
  struct Span {
    std::string name;
    gpu::Event first, last;
  };

  template <typename Name, typename Work>
  absl::Status Timed(gpu::Stream stream, const Name& name, const Work& work) {
    if (!is_timing_) return work();
    Span span{.name = name()};
    HAWSER_ASSIGN_OR_RETURN(span.first, CreateEvent());
    HAWSER_ASSIGN_OR_RETURN(span.last, CreateEvent());
    HAWSER_RETURN_IF_ERROR(RecordEvent(stream, span.first));
    HAWSER_RETURN_IF_ERROR(work());
    HAWSER_RETURN_IF_ERROR(RecordEvent(stream, span.last));
    const absl::MutexLock lock(&mu_);
    spans_.push_back(std::move(span));
    return absl::OkStatus();
  }

  std::atomic<int64_t> launches_{0}, products_{0}, copies_{0};
  std::atomic<bool> is_timing_{false};
  absl::Mutex mu_;
  std::map<uint64_t, std::string> names_ ABSL_GUARDED_BY(mu_);
  std::vector<Span> spans_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_COUNTING_DEVICE_H_
