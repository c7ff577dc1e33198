// Graphs of the CUDA device.
#include <utility>

#include "kernels/cuda/cuda_device_impl.h"

namespace hawser::cuda {

absl::Status CudaDevice::BeginCapture(gpu::Stream stream) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "BeginCapture"));
  // Relaxed: the capture may end on another thread, and this thread may use
  // other streams meanwhile. Calls that the stream must not make are refused by
  // OutsideCapture.
  HAWSER_RETURN_IF_ERROR(health_->Check(
      cudaStreamBeginCapture(s->stream.get(), cudaStreamCaptureModeRelaxed),
      "cudaStreamBeginCapture"));
  s->capture = std::make_unique<Capture>();
  return absl::OkStatus();
}

absl::StatusOr<gpu::Graph> CudaDevice::EndCapture(gpu::Stream stream) {
  // The capture ends even after an error: the stream is used again.
  const absl::Status entered = Enter();
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, streams_.Find(stream.value));
  if (s->capture == nullptr) {
    return FailedPrecondition("stream ", stream.value, " does not capture");
  }
  const std::unique_ptr<Capture> capture = std::move(s->capture);
  cudaGraph_t graph = nullptr;
  const absl::Status ended = health_->Check(
      cudaStreamEndCapture(s->stream.get(), &graph), "cudaStreamEndCapture");
  auto state = std::make_shared<GraphState>();
  state->graph.reset(graph);
  HAWSER_RETURN_IF_ERROR(capture->status);
  HAWSER_RETURN_IF_ERROR(ended);
  HAWSER_RETURN_IF_ERROR(entered);
  state->steps = std::move(capture->steps);
  state->recent = std::move(capture->recent);
  return gpu::Graph{graphs_.Add(std::move(state))};
}

absl::Status CudaDevice::DestroyGraph(gpu::Graph graph) {
  return graphs_.Take(graph.value).status();
}

absl::StatusOr<gpu::GraphExec> CudaDevice::Instantiate(gpu::Graph graph) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto g, graphs_.Find(graph.value));
  cudaGraphExec_t exec = nullptr;
  HAWSER_RETURN_IF_ERROR(
      health_->Check(cudaGraphInstantiate(&exec, g->graph.get(), 0),
                     "cudaGraphInstantiate"));
  auto state = std::make_shared<ExecState>();
  state->exec.reset(exec);
  state->steps = g->steps;
  state->recent = g->recent;
  return gpu::GraphExec{execs_.Add(std::move(state))};
}

absl::Status CudaDevice::DestroyGraphExec(gpu::GraphExec exec) {
  return execs_.Take(exec.value).status();
}

absl::StatusOr<bool> CudaDevice::Update(gpu::GraphExec exec,
                                        gpu::Graph graph) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto e, execs_.Find(exec.value));
  HAWSER_ASSIGN_OR_RETURN(const auto g, graphs_.Find(graph.value));
  // The driver would accept other kernels, too.
  if (e->steps != g->steps) return false;
  cudaGraphExecUpdateResultInfo info = {};
  const cudaError_t error =
      cudaGraphExecUpdate(e->exec.get(), g->graph.get(), &info);
  if (error == cudaErrorGraphExecUpdateFailure) {
    cudaGetLastError();
    return false;
  }
  HAWSER_RETURN_IF_ERROR(health_->Check(error, "cudaGraphExecUpdate"));
  return true;
}

absl::Status CudaDevice::LaunchGraph(gpu::Stream stream, gpu::GraphExec exec) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "LaunchGraph"));
  HAWSER_ASSIGN_OR_RETURN(const auto e, execs_.Find(exec.value));
  const absl::Status status =
      Check(cudaGraphLaunch(e->exec.get(), s->stream.get()), "cudaGraphLaunch",
            s->recent);
  s->recent = e->recent;
  return status;
}

}  // namespace hawser::cuda
