// The class of the emulated device, for the files of kernels/emu alone.
#ifndef HAWSER_KERNELS_EMU_EMU_DEVICE_IMPL_H_
#define HAWSER_KERNELS_EMU_EMU_DEVICE_IMPL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/emu/device_memory.h"
#include "kernels/emu/emu_device.h"
#include "kernels/emu/launch/host_compiler.h"
#include "kernels/emu/step.h"
#include "kernels/emu/timeline.h"

namespace hawser::emu {

// Objects by their handles. No handle is used twice. Not thread-safe.
template <typename T>
class Table {
 public:
  uint64_t Add(T value) {
    values_.emplace(next_, std::move(value));
    return next_++;
  }
  // nullptr for a handle without an object.
  T* Find(uint64_t handle) {
    const auto found = values_.find(handle);
    return found == values_.end() ? nullptr : &found->second;
  }
  bool Remove(uint64_t handle) { return values_.erase(handle) > 0; }

 private:
  std::map<uint64_t, T> values_;
  uint64_t next_ = 1;
};

using Steps = std::vector<Step>;

// The device. Thread-safe. `mu_` guards the tables. The timeline and the memory
// have locks of their own, which are taken after `mu_` or without it.
class EmuDevice final : public gpu::Device {
 public:
  explicit EmuDevice(const EmuOptions& options);
  ~EmuDevice() override;

  const gpu::DeviceFacts& facts() const override { return facts_; }
  absl::Status Health() const override { return timeline_.Health(); }

  absl::StatusOr<gpu::DeviceAddress> Allocate(gpu::Stream stream,
                                              int64_t bytes) override;
  absl::Status Free(gpu::Stream stream, gpu::DeviceAddress address) override;
  gpu::MemoryUse memory() const override { return memory_.use(); }
  absl::Status TrimMemory() override { return Health(); }
  absl::StatusOr<void*> AllocatePinned(int64_t bytes) override;
  absl::Status FreePinned(void* memory) override;

  absl::Status CopyToDevice(gpu::Stream stream, gpu::DeviceAddress to,
                            const void* from, int64_t bytes) override;
  absl::Status CopyToHost(gpu::Stream stream, void* to, gpu::DeviceAddress from,
                          int64_t bytes) override;
  absl::Status CopyOnDevice(gpu::Stream stream, gpu::DeviceAddress to,
                            gpu::DeviceAddress from, int64_t bytes) override;
  absl::Status Fill(gpu::Stream stream, gpu::DeviceAddress to, uint8_t value,
                    int64_t bytes) override;

  absl::StatusOr<gpu::Stream> CreateStream(int priority) override;
  absl::Status DestroyStream(gpu::Stream stream) override;
  absl::StatusOr<gpu::Event> CreateEvent() override;
  absl::Status DestroyEvent(gpu::Event event) override;
  absl::Status RecordEvent(gpu::Stream stream, gpu::Event event) override;
  absl::Status AwaitEventOn(gpu::Stream stream, gpu::Event event) override;
  absl::StatusOr<bool> IsDone(gpu::Event event) override;
  absl::Status AwaitEvent(gpu::Event event) override;
  absl::Status AwaitStream(gpu::Stream stream) override;
  absl::StatusOr<double> SecondsBetween(gpu::Event first,
                                        gpu::Event last) override;
  absl::Status Notify(gpu::Stream stream,
                      std::function<void(absl::Status)> done) override;

  std::string compiler_id() const override { return compiler_.id(); }
  absl::StatusOr<gpu::KernelBinary> Compile(
      absl::string_view name, absl::string_view text,
      const gpu::CompileOptions& options) override;
  absl::StatusOr<gpu::KernelModule> LoadModule(
      absl::string_view bytes) override;
  absl::Status UnloadModule(gpu::KernelModule module) override;
  absl::StatusOr<gpu::Kernel> FindKernel(gpu::KernelModule module,
                                         absl::string_view name) override;
  absl::Status Launch(gpu::Stream stream, gpu::Kernel kernel,
                      const gpu::LaunchShape& shape,
                      absl::Span<const gpu::KernelArgument> arguments) override;

  absl::StatusOr<gpu::CallPlan> PlanCall(const gpu::LibraryCall& call) override;
  absl::Status DestroyCall(gpu::CallPlan plan) override;
  int64_t WorkspaceBytes(gpu::CallPlan plan) const override { return 0; }
  absl::Status RunCall(gpu::Stream stream, gpu::CallPlan plan,
                       const gpu::CallOperands& operands) override;

  absl::Status BeginCapture(gpu::Stream stream) override;
  absl::StatusOr<gpu::Graph> EndCapture(gpu::Stream stream) override;
  absl::Status DestroyGraph(gpu::Graph graph) override;
  absl::StatusOr<gpu::GraphExec> Instantiate(gpu::Graph graph) override;
  absl::Status DestroyGraphExec(gpu::GraphExec exec) override;
  absl::StatusOr<bool> Update(gpu::GraphExec exec, gpu::Graph graph) override;
  absl::Status LaunchGraph(gpu::Stream stream, gpu::GraphExec exec) override;

 private:
  struct LoadedModule {
    std::shared_ptr<const HostModule> code;
    std::map<std::string, uint64_t> kernels;  // found so far
  };
  struct Exec {
    std::shared_ptr<const Steps> steps;
    MarkPtr last;  // after its last launch
  };
  struct Capture {
    Steps steps;
    absl::Status status;  // the first call that failed
  };

  // Adds a step to the stream, or to its capture.
  absl::Status Add(gpu::Stream stream, Step step);
  absl::Status Queue(gpu::Stream stream, std::shared_ptr<const Steps> steps,
                     size_t i);
  // Returns `status`, and ends a capture on the stream with it.
  absl::Status Refuse(gpu::Stream stream, absl::Status status);
  // kFailedPrecondition while `stream` captures.
  absl::Status NotCapturing(gpu::Stream stream, absl::string_view call);
  std::vector<Schedule> SchedulesOf(uint64_t draw) const;

  const EmuOptions options_;
  const gpu::DeviceFacts facts_;
  HostCompiler compiler_;
  Mutex mu_;
  uint64_t num_steps_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<uint64_t, Capture> captures_ ABSL_GUARDED_BY(mu_);  // by stream
  Table<LoadedModule> modules_ ABSL_GUARDED_BY(mu_);
  Table<std::shared_ptr<const HostKernel>> kernels_ ABSL_GUARDED_BY(mu_);
  Table<std::shared_ptr<const gpu::LibraryCall>> plans_ ABSL_GUARDED_BY(mu_);
  Table<std::shared_ptr<const Steps>> graphs_ ABSL_GUARDED_BY(mu_);
  Table<Exec> execs_ ABSL_GUARDED_BY(mu_);
  DeviceMemory memory_;
  Timeline timeline_;  // last: queued work uses the members above
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_EMU_DEVICE_IMPL_H_
