// Device: everything the GPU engine asks of a device. It names no vendor:
// kernels/cuda implements it over CUDA, kernels/emu on this machine's CPU.
//
// Order. Work is queued on streams. Work on one stream happens in the order of
// the calls; between streams only events order anything: work after
// AwaitEventOn(s, e) happens after what was on e's stream when it was recorded.
// A device may run work that nothing orders in any order; `emu` does so on
// purpose. Functions whose first argument is a Stream return once the work is
// queued.
//
// Errors. A call that fails has queued nothing. A later fault is reported by
// the next Await*, or call that queues, that meets it: kInternal for a fault in
// a kernel. If that ends the device (`Health`), every call after it is
// kUnavailable, with the same words: clients then compute elsewhere. IsDone,
// Free and TrimMemory report a fault without ending the device.
//   kResourceExhausted   device or pinned memory: bytes asked for and free
//   kUnavailable         the device is lost, was never there, or gets nothing
//                        done
//   kFailedPrecondition  a library is missing (it is named), or a call that a
//                        capture does not allow
//   kUnimplemented       a call this device has no routine for
//   kInvalidArgument     a launch beyond the limits; text that does not
//                        compile, with the compiler's log
//   kInternal            a fault in a kernel, by name: our bug
//
// Threads. Any function may be called on any thread; calls on one stream, one
// graph or one event are to be ordered by their caller. Only the functions
// marked "blocks" wait for the device.
#ifndef HAWSER_KERNELS_GPU_DEVICE_DEVICE_API_H_
#define HAWSER_KERNELS_GPU_DEVICE_DEVICE_API_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kernels/gpu/device/device_types.h"  // IWYU pragma: export
#include "kernels/gpu/device/library_call.h"  // IWYU pragma: export

namespace hawser::gpu {

class Device {
 public:
  // Nothing may be queued any more; what was handed out is gone afterwards.
  virtual ~Device() = default;

  virtual const DeviceFacts& facts() const = 0;
  // OK while the device can be used, else kUnavailable. Never blocks.
  virtual absl::Status Health() const = 0;

  // ---- memory -------------------------------------------------------------
  // `bytes` of unspecified content, aligned to 256; 0 bytes are an address
  // that nothing may touch. For work on `stream`, and for what is ordered after
  // it. Blocks at most for what is freed on `stream` already.
  virtual absl::StatusOr<DeviceAddress> Allocate(Stream stream,
                                                 int64_t bytes) = 0;
  // Frees the memory for other use once `stream` gets here. If another stream
  // has used it, the caller has `stream` wait for that first. No address:
  // nothing happens.
  virtual absl::Status Free(Stream stream, DeviceAddress address) = 0;
  virtual MemoryUse memory() const = 0;
  // Gives memory that is not live back to the system.
  virtual absl::Status TrimMemory() = 0;

  // Host memory that copies overlap with other work. Costs milliseconds; the
  // caller holds no lock that others need meanwhile.
  virtual absl::StatusOr<void*> AllocatePinned(int64_t bytes) = 0;
  virtual absl::Status FreePinned(void* memory) = 0;

  // ---- copies -------------------------------------------------------------
  // Host memory is to stay as it is until the stream has passed the copy. If
  // the memory is not pinned, the call itself may take as long as the copy.
  virtual absl::Status CopyToDevice(Stream stream, DeviceAddress to,
                                    const void* from, int64_t bytes) = 0;
  virtual absl::Status CopyToHost(Stream stream, void* to, DeviceAddress from,
                                  int64_t bytes) = 0;
  // The ranges may not overlap.
  virtual absl::Status CopyOnDevice(Stream stream, DeviceAddress to,
                                    DeviceAddress from, int64_t bytes) = 0;
  // Every byte becomes `value`.
  virtual absl::Status Fill(Stream stream, DeviceAddress to, uint8_t value,
                            int64_t bytes) = 0;

  // ---- streams and events -------------------------------------------------
  // If two streams have work, the one of the higher priority goes first: 0 or
  // 1.
  virtual absl::StatusOr<Stream> CreateStream(int priority) = 0;
  // Blocks until what is on it is done.
  virtual absl::Status DestroyStream(Stream stream) = 0;
  virtual absl::StatusOr<Event> CreateEvent() = 0;
  virtual absl::Status DestroyEvent(Event event) = 0;
  // The event stands for what is on the stream now, and no longer for what it
  // was recorded for before.
  virtual absl::Status RecordEvent(Stream stream, Event event) = 0;
  // An event that was never recorded holds nothing up.
  virtual absl::Status AwaitEventOn(Stream stream, Event event) = 0;
  virtual absl::StatusOr<bool> IsDone(Event event) = 0;
  // Blocks. The stream's first error, if there is one.
  virtual absl::Status AwaitEvent(Event event) = 0;
  virtual absl::Status AwaitStream(Stream stream) = 0;
  // Seconds of the device between two recorded events that are done.
  virtual absl::StatusOr<double> SecondsBetween(Event first, Event last) = 0;
  // `done` is called once, on a thread of the device, when the stream gets
  // here, with the stream's first error; also when the device is lost. It is
  // to be quick and may not call the device.
  virtual absl::Status Notify(Stream stream,
                              std::function<void(absl::Status)> done) = 0;

  // ---- kernels ------------------------------------------------------------
  // Names what decides about a binary besides text and options: compiler, its
  // version, the target, the prelude. Part of every cache key.
  virtual std::string compiler_id() const = 0;
  // Kernels in the dialect (kernels/dialect/README.md), without the #include:
  // the prelude is in front already. Takes tens of milliseconds; uses no
  // stream. `name` stands in the compiler's messages.
  virtual absl::StatusOr<KernelBinary> Compile(
      absl::string_view name, absl::string_view text,
      const CompileOptions& options) = 0;
  // Errors: kInvalidArgument for bytes that are not of `compiler_id`.
  virtual absl::StatusOr<KernelModule> LoadModule(absl::string_view bytes) = 0;
  // No work may be queued, nor any graph alive, that uses its kernels.
  virtual absl::Status UnloadModule(KernelModule module) = 0;
  // Lives as long as the module. Errors: kNotFound.
  virtual absl::StatusOr<Kernel> FindKernel(KernelModule module,
                                            absl::string_view name) = 0;
  // A grid without blocks does nothing.
  virtual absl::Status Launch(Stream stream, Kernel kernel,
                              const LaunchShape& shape,
                              absl::Span<const KernelArgument> arguments) = 0;

  // ---- calls of libraries -------------------------------------------------
  // Chooses an algorithm; slow, and not to be called during a capture. Errors:
  // kUnimplemented for what the library has no routine for; kFailedPrecondition
  // where there is no library: the engine then computes it otherwise.
  // kInvalidArgument for sizes that make no sense.
  virtual absl::StatusOr<CallPlan> PlanCall(const LibraryCall& call) = 0;
  virtual absl::Status DestroyCall(CallPlan plan) = 0;
  virtual int64_t WorkspaceBytes(CallPlan plan) const = 0;
  // Blocks, and is not allowed during a capture, where MayBlock(call).
  virtual absl::Status RunCall(Stream stream, CallPlan plan,
                               const CallOperands& operands) = 0;

  // ---- graphs -------------------------------------------------------------
  // Until EndCapture, Launch, RunCall, Fill and copies on the stream are
  // written down instead of done; everything else on it is kFailedPrecondition.
  // Other streams go on as ever.
  virtual absl::Status BeginCapture(Stream stream) = 0;
  // It also ends a capture in which a call has failed; the error is that
  // call's.
  virtual absl::StatusOr<Graph> EndCapture(Stream stream) = 0;
  virtual absl::Status DestroyGraph(Graph graph) = 0;
  // Independent of the graph afterwards.
  virtual absl::StatusOr<GraphExec> Instantiate(Graph graph) = 0;
  virtual absl::Status DestroyGraphExec(GraphExec exec) = 0;
  // The same work over other addresses and numbers. False, with the exec as it
  // was, when the steps themselves differ: instantiate again. Launches that are
  // queued already keep the old addresses.
  virtual absl::StatusOr<bool> Update(GraphExec exec, Graph graph) = 0;
  // One after the other even on different streams.
  virtual absl::Status LaunchGraph(Stream stream, GraphExec exec) = 0;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_DEVICE_DEVICE_API_H_
