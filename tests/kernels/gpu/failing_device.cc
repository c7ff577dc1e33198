#include "tests/kernels/gpu/failing_device.h"

#include "core/base/status.h"

namespace hawser::gpu {

void FailingDevice::FailNext(std::string call, absl::Status status, int times) {
  FailWith([call = std::move(call), status = std::move(status),
            left = times](absl::string_view name) mutable -> absl::Status {
    if (name != call || left == 0) return absl::OkStatus();
    --left;
    return status;
  });
}

absl::Status FailingDevice::Check(absl::string_view call) {
  MutexLock lock(&mu_);
  return fail_ ? fail_(call) : absl::OkStatus();
}

absl::StatusOr<DeviceAddress> FailingDevice::Allocate(Stream stream,
                                                      int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(Check("Allocate"));
  return ForwardingDevice::Allocate(stream, bytes);
}

absl::StatusOr<void*> FailingDevice::AllocatePinned(int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(Check("AllocatePinned"));
  return ForwardingDevice::AllocatePinned(bytes);
}

absl::Status FailingDevice::CopyToDevice(Stream stream, DeviceAddress to,
                                         const void* from, int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(Check("CopyToDevice"));
  return ForwardingDevice::CopyToDevice(stream, to, from, bytes);
}

absl::Status FailingDevice::CopyToHost(Stream stream, void* to,
                                       DeviceAddress from, int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(Check("CopyToHost"));
  return ForwardingDevice::CopyToHost(stream, to, from, bytes);
}

absl::StatusOr<Stream> FailingDevice::CreateStream(int priority) {
  HAWSER_RETURN_IF_ERROR(Check("CreateStream"));
  return ForwardingDevice::CreateStream(priority);
}

absl::StatusOr<KernelBinary> FailingDevice::Compile(
    absl::string_view name, absl::string_view text,
    const CompileOptions& options) {
  HAWSER_RETURN_IF_ERROR(Check("Compile"));
  return ForwardingDevice::Compile(name, text, options);
}

absl::StatusOr<KernelModule> FailingDevice::LoadModule(
    absl::string_view bytes) {
  HAWSER_RETURN_IF_ERROR(Check("LoadModule"));
  return ForwardingDevice::LoadModule(bytes);
}

absl::Status FailingDevice::Launch(Stream stream, Kernel kernel,
                                   const LaunchShape& shape,
                                   absl::Span<const KernelArgument> arguments) {
  HAWSER_RETURN_IF_ERROR(Check("Launch"));
  return ForwardingDevice::Launch(stream, kernel, shape, arguments);
}

absl::StatusOr<CallPlan> FailingDevice::PlanCall(const LibraryCall& call) {
  HAWSER_RETURN_IF_ERROR(Check("PlanCall"));
  return ForwardingDevice::PlanCall(call);
}

absl::Status FailingDevice::BeginCapture(Stream stream) {
  HAWSER_RETURN_IF_ERROR(Check("BeginCapture"));
  return ForwardingDevice::BeginCapture(stream);
}

absl::StatusOr<bool> FailingDevice::Update(GraphExec exec, Graph graph) {
  HAWSER_RETURN_IF_ERROR(Check("Update"));
  return ForwardingDevice::Update(exec, graph);
}

}  // namespace hawser::gpu
