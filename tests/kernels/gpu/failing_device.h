// FailingDevice: a device with calls that fail when a test says so.
#ifndef HAWSER_TESTS_KERNELS_GPU_FAILING_DEVICE_H_
#define HAWSER_TESTS_KERNELS_GPU_FAILING_DEVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "kernels/gpu/device_api.h"

namespace hawser::gpu {

// Passes every call on to another device, unless `fail` has an error for it.
// Thread-safe.
class FailingDevice : public Device {
 public:
  // By the name of the call.
  using Fail = std::function<absl::Status(absl::string_view call)>;

  explicit FailingDevice(std::unique_ptr<Device> device)
      : device_(std::move(device)) {}

  // From now on; empty: nothing fails.
  void FailWith(Fail fail) {
    MutexLock lock(&mu_);
    fail_ = std::move(fail);
  }
  // The next `times` calls of that name.
  void FailNext(std::string call, absl::Status status, int times = 1);

  const DeviceFacts& facts() const override { return device_->facts(); }
  absl::Status Health() const override { return device_->Health(); }
  absl::StatusOr<DeviceAddress> Allocate(Stream stream, int64_t bytes) override;
  absl::Status Free(Stream stream, DeviceAddress address) override {
    return device_->Free(stream, address);
  }
  MemoryUse memory() const override { return device_->memory(); }
  absl::Status TrimMemory() override { return device_->TrimMemory(); }
  absl::StatusOr<void*> AllocatePinned(int64_t bytes) override;
  absl::Status FreePinned(void* memory) override {
    return device_->FreePinned(memory);
  }
  absl::Status CopyToDevice(Stream stream, DeviceAddress to, const void* from,
                            int64_t bytes) override;
  absl::Status CopyToHost(Stream stream, void* to, DeviceAddress from,
                          int64_t bytes) override;
  absl::Status CopyOnDevice(Stream stream, DeviceAddress to, DeviceAddress from,
                            int64_t bytes) override {
    return device_->CopyOnDevice(stream, to, from, bytes);
  }
  absl::Status Fill(Stream stream, DeviceAddress to, uint8_t value,
                    int64_t bytes) override {
    return device_->Fill(stream, to, value, bytes);
  }
  absl::StatusOr<Stream> CreateStream(int priority) override;
  absl::Status DestroyStream(Stream stream) override {
    return device_->DestroyStream(stream);
  }
  absl::StatusOr<Event> CreateEvent() override {
    return device_->CreateEvent();
  }
  absl::Status DestroyEvent(Event event) override {
    return device_->DestroyEvent(event);
  }
  absl::Status RecordEvent(Stream stream, Event event) override {
    return device_->RecordEvent(stream, event);
  }
  absl::Status AwaitEventOn(Stream stream, Event event) override {
    return device_->AwaitEventOn(stream, event);
  }
  absl::StatusOr<bool> IsDone(Event event) override {
    return device_->IsDone(event);
  }
  absl::Status AwaitEvent(Event event) override {
    return device_->AwaitEvent(event);
  }
  absl::Status AwaitStream(Stream stream) override {
    return device_->AwaitStream(stream);
  }
  absl::StatusOr<double> SecondsBetween(Event first, Event last) override {
    return device_->SecondsBetween(first, last);
  }
  absl::Status Notify(Stream stream,
                      std::function<void(absl::Status)> done) override {
    return device_->Notify(stream, std::move(done));
  }
  std::string compiler_id() const override { return device_->compiler_id(); }
  absl::StatusOr<KernelBinary> Compile(absl::string_view name,
                                       absl::string_view text,
                                       const CompileOptions& options) override;
  absl::StatusOr<KernelModule> LoadModule(absl::string_view bytes) override;
  absl::Status UnloadModule(KernelModule module) override {
    ++unloaded;
    return device_->UnloadModule(module);
  }
  absl::StatusOr<Kernel> FindKernel(KernelModule module,
                                    absl::string_view name) override {
    return device_->FindKernel(module, name);
  }
  absl::Status Launch(Stream stream, Kernel kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments) override;
  absl::StatusOr<GemmPlan> PlanGemm(const GemmSpec& spec) override;
  absl::Status DestroyGemmPlan(GemmPlan plan) override {
    return device_->DestroyGemmPlan(plan);
  }
  int64_t WorkspaceBytes(GemmPlan plan) const override {
    return device_->WorkspaceBytes(plan);
  }
  absl::Status Gemm(Stream stream, GemmPlan plan,
                    const GemmOperands& operands) override {
    return device_->Gemm(stream, plan, operands);
  }
  absl::Status BeginCapture(Stream stream) override;
  absl::StatusOr<Graph> EndCapture(Stream stream) override {
    return device_->EndCapture(stream);
  }
  absl::Status DestroyGraph(Graph graph) override {
    return device_->DestroyGraph(graph);
  }
  absl::StatusOr<GraphExec> Instantiate(Graph graph) override {
    return device_->Instantiate(graph);
  }
  absl::Status DestroyGraphExec(GraphExec exec) override {
    return device_->DestroyGraphExec(exec);
  }
  absl::StatusOr<bool> Update(GraphExec exec, Graph graph) override;
  absl::Status LaunchGraph(Stream stream, GraphExec exec) override {
    return device_->LaunchGraph(stream, exec);
  }

  std::atomic<int> unloaded{0};  // modules

 private:
  absl::Status Check(absl::string_view call);

  const std::unique_ptr<Device> device_;
  Mutex mu_;
  Fail fail_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_FAILING_DEVICE_H_
