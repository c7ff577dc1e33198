// Streams, events and notices of the CUDA device.
#include <utility>

#include "kernels/cuda/cuda_device_impl.h"

namespace hawser::cuda {
namespace {

// The argument of a callback of the driver.
struct Notice {
  std::shared_ptr<DeviceHealth> health;
  std::shared_ptr<Notices> notices;
  uint64_t id;
  RecentKernels recent;
};

void CUDART_CB CallNotice(cudaStream_t stream, cudaError_t error,
                          void* argument) {
  const std::unique_ptr<Notice> notice(static_cast<Notice*>(argument));
  absl::Status status;
  if (error != cudaSuccess) {
    status = notice->health->Judge(error, "a stream's work",
                                   notice->recent.ToString());
  }
  notice->notices->Fire(notice->id, status);
}

}  // namespace

std::string RecentKernels::ToString() const {
  std::string text;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    const auto& kernel = kernels_[(next_ + i) % kernels_.size()];
    if (kernel == nullptr) continue;
    absl::StrAppend(&text, text.empty() ? "behind kernels " : ", ",
                    kernel->info.name);
  }
  return text;
}

absl::Status CudaDevice::Check(cudaError_t error, absl::string_view call,
                               const RecentKernels& recent) const {
  if (error == cudaSuccess) [[likely]] return absl::OkStatus();
  return health_->Check(error, call, recent.ToString());
}

absl::StatusOr<CudaDevice::StreamPtr> CudaDevice::On(
    gpu::Stream stream) const {
  HAWSER_RETURN_IF_ERROR(Enter());
  return streams_.Find(stream.value);
}

absl::StatusOr<CudaDevice::StreamPtr> CudaDevice::OutsideCapture(
    gpu::Stream stream, absl::string_view call) const {
  HAWSER_ASSIGN_OR_RETURN(StreamPtr s, On(stream));
  if (s->capture == nullptr) return s;
  absl::Status refusal = FailedPrecondition(
      call, " on stream ", stream.value, ", which captures a graph");
  s->capture->status.Update(refusal);
  return refusal;
}

absl::StatusOr<gpu::Stream> CudaDevice::CreateStream(int priority) {
  if (priority < 0 || priority > 1) {
    return InvalidArgument("stream priority ", priority, ", not 0 or 1");
  }
  HAWSER_RETURN_IF_ERROR(Enter());
  int least = 0, greatest = 0;
  HAWSER_RETURN_IF_ERROR(
      health_->Check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                     "cudaDeviceGetStreamPriorityRange"));
  cudaStream_t stream = nullptr;
  HAWSER_RETURN_IF_ERROR(health_->Check(
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                   priority == 0 ? least : greatest),
      "cudaStreamCreateWithPriority"));
  auto state = std::make_shared<StreamState>();
  state->stream.reset(stream);
  return gpu::Stream{streams_.Add(std::move(state))};
}

absl::Status CudaDevice::DestroyStream(gpu::Stream stream) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "DestroyStream"));
  const absl::Status status = AwaitStream(stream);
  streams_.Take(stream.value).status().IgnoreError();
  return status;
}

absl::StatusOr<gpu::Event> CudaDevice::CreateEvent() {
  HAWSER_RETURN_IF_ERROR(Enter());
  cudaEvent_t event = nullptr;
  HAWSER_RETURN_IF_ERROR(
      health_->Check(cudaEventCreateWithFlags(&event, cudaEventDefault),
                     "cudaEventCreateWithFlags"));
  auto state = std::make_shared<EventState>();
  state->event.reset(event);
  return gpu::Event{events_.Add(std::move(state))};
}

absl::Status CudaDevice::DestroyEvent(gpu::Event event) {
  return events_.Take(event.value).status();
}

absl::Status CudaDevice::RecordEvent(gpu::Stream stream, gpu::Event event) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "RecordEvent"));
  HAWSER_ASSIGN_OR_RETURN(const auto e, events_.Find(event.value));
  e->recent = s->recent;
  return Check(cudaEventRecord(e->event.get(), s->stream.get()),
               "cudaEventRecord", s->recent);
}

absl::Status CudaDevice::AwaitEventOn(gpu::Stream stream, gpu::Event event) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "AwaitEventOn"));
  HAWSER_ASSIGN_OR_RETURN(const auto e, events_.Find(event.value));
  return Check(cudaStreamWaitEvent(s->stream.get(), e->event.get(), 0),
               "cudaStreamWaitEvent", s->recent);
}

absl::StatusOr<bool> CudaDevice::IsDone(gpu::Event event) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto e, events_.Find(event.value));
  const cudaError_t error = cudaEventQuery(e->event.get());
  if (error == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  HAWSER_RETURN_IF_ERROR(health_->Peek(error, "cudaEventQuery"));
  watchdog_.Progressed();
  return true;
}

absl::Status CudaDevice::AwaitEvent(gpu::Event event) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto e, events_.Find(event.value));
  return Await([&] { return cudaEventQuery(e->event.get()); }, "cudaEventQuery",
               e->recent);
}

absl::Status CudaDevice::AwaitStream(gpu::Stream stream) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "AwaitStream"));
  return Await([&] { return cudaStreamQuery(s->stream.get()); },
               "cudaStreamQuery", s->recent);
}

absl::Status CudaDevice::Await(absl::FunctionRef<cudaError_t()> query,
                               absl::string_view call,
                               const RecentKernels& recent) const {
  Watchdog::Wait wait(&watchdog_);
  while (true) {
    const cudaError_t error = query();
    if (error != cudaErrorNotReady) {
      if (error == cudaSuccess) watchdog_.Progressed();
      return Check(error, call, recent);
    }
    cudaGetLastError();
    // Another thread may have found the device lost.
    HAWSER_RETURN_IF_ERROR(health_->status());
    const absl::Status silent = wait.Pause();
    if (!silent.ok()) {
      return health_->End(absl::Status(
          silent.code(),
          absl::StrCat(silent.message(), ", ", recent.ToString())));
    }
  }
}

absl::StatusOr<double> CudaDevice::SecondsBetween(gpu::Event first,
                                                  gpu::Event last) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto a, events_.Find(first.value));
  HAWSER_ASSIGN_OR_RETURN(const auto b, events_.Find(last.value));
  float milliseconds = 0;
  HAWSER_RETURN_IF_ERROR(health_->Check(
      cudaEventElapsedTime(&milliseconds, a->event.get(), b->event.get()),
      "cudaEventElapsedTime"));
  return milliseconds / 1e3;
}

// Uses cudaStreamAddCallback: a lost device makes no calls for
// cudaLaunchHostFunc, and threads that wait for the notice would wait for ever.
absl::Status CudaDevice::Notify(gpu::Stream stream,
                                std::function<void(absl::Status)> done) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, OutsideCapture(stream, "Notify"));
  const uint64_t id = notices_->Add(std::move(done));
  auto notice = std::unique_ptr<Notice>(
      new Notice{health_, notices_, id, s->recent});
  const absl::Status status = Check(
      cudaStreamAddCallback(s->stream.get(), CallNotice, notice.get(), 0),
      "cudaStreamAddCallback", s->recent);
  if (status.ok()) {
    notice.release();  // the callback owns it
  } else {
    notices_->Remove(id);
  }
  return status;
}

}  // namespace hawser::cuda
