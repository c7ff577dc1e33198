// The class of the CUDA device, for the files of kernels/cuda alone.
#ifndef HAWSER_KERNELS_CUDA_CUDA_DEVICE_IMPL_H_
#define HAWSER_KERNELS_CUDA_CUDA_DEVICE_IMPL_H_

#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "kernels/cuda/compile/nvrtc.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/handle_table.h"
#include "kernels/cuda/launch_check.h"
#include "kernels/cuda/library_calls/libraries.h"
#include "kernels/cuda/notices.h"
#include "kernels/cuda/runtime/device_memory.h"
#include "kernels/cuda/runtime/errors.h"
#include "kernels/cuda/runtime/owned.h"
#include "kernels/cuda/watchdog.h"

namespace hawser::cuda {

struct LoadedKernel {
  KernelInfo info;
  cudaKernel_t kernel = nullptr;  // lives as long as its module
};

struct LoadedModule {
  OwnedLibrary library;
  Mutex mu;
  std::map<std::string, uint64_t> kernels ABSL_GUARDED_BY(mu);  // found so far
};

// The last kernels of a stream, which the error of a fault names: the driver
// does not say which kernel it came from.
class RecentKernels {
 public:
  void Add(std::shared_ptr<const LoadedKernel> kernel) {
    kernels_[next_++ % kernels_.size()] = std::move(kernel);
  }
  // "behind kernels a, b", in the order of their launches; "" without any.
  std::string ToString() const;

 private:
  std::array<std::shared_ptr<const LoadedKernel>, 4> kernels_;
  size_t next_ = 0;
};

// One step of a graph without its addresses and numbers.
struct Step {
  enum class Kind : uint8_t { kLaunch, kCall, kCopy, kFill };
  Kind kind;
  uint64_t subject = 0;  // kernel, plan, direction

  bool operator==(const Step&) const = default;
};
using Steps = std::vector<Step>;

struct Capture {
  Steps steps;
  RecentKernels recent;
  absl::Status status;  // the first call that failed
};

// The state of one stream. Callers use a stream from one thread at a time, so
// it has no lock.
struct StreamState {
  OwnedStream stream;
  std::unique_ptr<Capture> capture;
  RecentKernels recent;
};
struct EventState {
  OwnedEvent event;
  RecentKernels recent;  // of the stream, when the event was recorded
};
struct GraphState {
  OwnedGraph graph;
  Steps steps;
  RecentKernels recent;
};
struct ExecState {
  OwnedGraphExec exec;
  Steps steps;
  RecentKernels recent;
};

// The device. Thread-safe. CUDA keeps a current device for each thread, so
// every call sets it.
class CudaDevice final : public gpu::Device {
 public:
  // Errors: kUnavailable.
  static absl::StatusOr<std::unique_ptr<CudaDevice>> Make(
      int ordinal, const CudaOptions& options);
  ~CudaDevice() override;

  const gpu::DeviceFacts& facts() const override { return facts_; }
  absl::Status Health() const override { return health_->status(); }

  absl::StatusOr<gpu::DeviceAddress> Allocate(gpu::Stream stream,
                                              int64_t bytes) override;
  absl::Status Free(gpu::Stream stream, gpu::DeviceAddress address) override;
  gpu::MemoryUse memory() const override;
  absl::Status TrimMemory() override;
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

  std::string compiler_id() const override { return compiler_.id; }
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
  int64_t WorkspaceBytes(gpu::CallPlan plan) const override;
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
  using StreamPtr = std::shared_ptr<StreamState>;
  struct Compiler {
    absl::StatusOr<std::unique_ptr<Nvrtc>> nvrtc;
    int capability = 0;  // 90 is Hopper's 9.0
    std::string id;
  };

  CudaDevice(int ordinal, const CudaOptions& options);
  absl::Status ReadFacts();
  void ChooseCompiler();

  // Makes this the thread's current device. Errors: the one that ended the
  // device.
  absl::Status Enter() const;
  // Enter, then the stream of a handle.
  absl::StatusOr<StreamPtr> On(gpu::Stream stream) const;
  // The same for a call that is not allowed while the stream captures, and ends
  // the capture.
  absl::StatusOr<StreamPtr> OutsideCapture(gpu::Stream stream,
                                           absl::string_view call) const;
  // The status of what `call` returned; that of a fault names the kernels it
  // may come from.
  absl::Status Check(cudaError_t error, absl::string_view call,
                     const RecentKernels& recent) const;
  // Returns `status`, the status of a step, and adds both to a capture.
  static absl::Status Record(StreamState& stream, Step step,
                             absl::Status status);
  absl::Status Copy(gpu::Stream stream, void* to, const void* from,
                    int64_t bytes, cudaMemcpyKind kind);
  // Waits until `query` returns another code than cudaErrorNotReady, or the
  // device counts as lost.
  absl::Status Await(absl::FunctionRef<cudaError_t()> query,
                     absl::string_view call, const RecentKernels& recent) const;
  absl::StatusOr<KernelInfo> Inspect(cudaKernel_t kernel,
                                     absl::string_view name) const;

  const int ordinal_;
  // Shared with callbacks of the driver, which may outlive the device.
  const std::shared_ptr<DeviceHealth> health_;
  const std::shared_ptr<Notices> notices_;
  mutable Watchdog watchdog_;
  Compiler compiler_;
  const Libraries libraries_;
  gpu::DeviceFacts facts_;
  std::unique_ptr<DeviceMemory> memory_;
  HandleTable<StreamState> streams_{"stream"};
  HandleTable<EventState> events_{"event"};
  HandleTable<LoadedModule> modules_{"module"};
  HandleTable<const LoadedKernel> kernels_{"kernel"};
  HandleTable<const PlannedCall> plans_{"call plan"};
  HandleTable<GraphState> graphs_{"graph"};
  HandleTable<ExecState> execs_{"graph exec"};
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_CUDA_DEVICE_IMPL_H_
