// FailingDevice: a device with calls that fail when a test says so.
#ifndef HAWSER_TESTS_KERNELS_GPU_FAILING_DEVICE_H_
#define HAWSER_TESTS_KERNELS_GPU_FAILING_DEVICE_H_

#include <atomic>
#include <functional>
#include <string>

#include "core/base/mutex.h"
#include "tests/kernels/gpu/forwarding_device.h"

namespace hawser::gpu {

// Passes every call on to another device, unless `fail` has an error for it.
// Thread-safe.
class FailingDevice : public ForwardingDevice {
 public:
  // By the name of the call.
  using Fail = std::function<absl::Status(absl::string_view call)>;

  using ForwardingDevice::ForwardingDevice;

  // From now on; empty: nothing fails.
  void FailWith(Fail fail) {
    MutexLock lock(&mu_);
    fail_ = std::move(fail);
  }
  // The next `times` calls of that name.
  void FailNext(std::string call, absl::Status status, int times = 1);

  absl::StatusOr<DeviceAddress> Allocate(Stream stream, int64_t bytes) override;
  absl::StatusOr<void*> AllocatePinned(int64_t bytes) override;
  absl::Status CopyToDevice(Stream stream, DeviceAddress to, const void* from,
                            int64_t bytes) override;
  absl::Status CopyToHost(Stream stream, void* to, DeviceAddress from,
                          int64_t bytes) override;
  absl::StatusOr<Stream> CreateStream(int priority) override;
  absl::StatusOr<KernelBinary> Compile(absl::string_view name,
                                       absl::string_view text,
                                       const CompileOptions& options) override;
  absl::StatusOr<KernelModule> LoadModule(absl::string_view bytes) override;
  absl::Status Launch(Stream stream, Kernel kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments) override;
  absl::StatusOr<CallPlan> PlanCall(const LibraryCall& call) override;
  absl::Status BeginCapture(Stream stream) override;
  absl::StatusOr<bool> Update(GraphExec exec, Graph graph) override;
  absl::Status UnloadModule(KernelModule module) override {
    ++unloaded;
    return ForwardingDevice::UnloadModule(module);
  }

  std::atomic<int> unloaded{0};  // modules

 private:
  absl::Status Check(absl::string_view call);

  Mutex mu_;
  Fail fail_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_FAILING_DEVICE_H_
