// ForwardingDevice: a device that passes every call on to another one, for
// tests that change some of them.
#ifndef HAWSER_TESTS_KERNELS_GPU_FORWARDING_DEVICE_H_
#define HAWSER_TESTS_KERNELS_GPU_FORWARDING_DEVICE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kernels/gpu/device/device_api.h"

namespace hawser::gpu {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(std::unique_ptr<Device> device)
      : device_(std::move(device)) {}

  const DeviceFacts& facts() const override { return device_->facts(); }
  absl::Status Health() const override { return device_->Health(); }
  absl::StatusOr<DeviceAddress> Allocate(Stream stream,
                                         int64_t bytes) override {
    return device_->Allocate(stream, bytes);
  }
  absl::Status Free(Stream stream, DeviceAddress address) override {
    return device_->Free(stream, address);
  }
  MemoryUse memory() const override { return device_->memory(); }
  absl::Status TrimMemory() override { return device_->TrimMemory(); }
  absl::StatusOr<void*> AllocatePinned(int64_t bytes) override {
    return device_->AllocatePinned(bytes);
  }
  absl::Status FreePinned(void* memory) override {
    return device_->FreePinned(memory);
  }
  absl::Status CopyToDevice(Stream stream, DeviceAddress to, const void* from,
                            int64_t bytes) override {
    return device_->CopyToDevice(stream, to, from, bytes);
  }
  absl::Status CopyToHost(Stream stream, void* to, DeviceAddress from,
                          int64_t bytes) override {
    return device_->CopyToHost(stream, to, from, bytes);
  }
  absl::Status CopyOnDevice(Stream stream, DeviceAddress to, DeviceAddress from,
                            int64_t bytes) override {
    return device_->CopyOnDevice(stream, to, from, bytes);
  }
  absl::Status Fill(Stream stream, DeviceAddress to, uint8_t value,
                    int64_t bytes) override {
    return device_->Fill(stream, to, value, bytes);
  }
  absl::StatusOr<Stream> CreateStream(int priority) override {
    return device_->CreateStream(priority);
  }
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
                                       const CompileOptions& options) override {
    return device_->Compile(name, text, options);
  }
  absl::StatusOr<KernelModule> LoadModule(absl::string_view bytes) override {
    return device_->LoadModule(bytes);
  }
  absl::Status UnloadModule(KernelModule module) override {
    return device_->UnloadModule(module);
  }
  absl::StatusOr<Kernel> FindKernel(KernelModule module,
                                    absl::string_view name) override {
    return device_->FindKernel(module, name);
  }
  absl::Status Launch(Stream stream, Kernel kernel, const LaunchShape& shape,
                      absl::Span<const KernelArgument> arguments) override {
    return device_->Launch(stream, kernel, shape, arguments);
  }
  absl::StatusOr<CallPlan> PlanCall(const LibraryCall& call) override {
    return device_->PlanCall(call);
  }
  absl::Status DestroyCall(CallPlan plan) override {
    return device_->DestroyCall(plan);
  }
  int64_t WorkspaceBytes(CallPlan plan) const override {
    return device_->WorkspaceBytes(plan);
  }
  absl::Status RunCall(Stream stream, CallPlan plan,
                       const CallOperands& operands) override {
    return device_->RunCall(stream, plan, operands);
  }
  absl::Status BeginCapture(Stream stream) override {
    return device_->BeginCapture(stream);
  }
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
  absl::StatusOr<bool> Update(GraphExec exec, Graph graph) override {
    return device_->Update(exec, graph);
  }
  absl::Status LaunchGraph(Stream stream, GraphExec exec) override {
    return device_->LaunchGraph(stream, exec);
  }

 private:
  const std::unique_ptr<Device> device_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_FORWARDING_DEVICE_H_
