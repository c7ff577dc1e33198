// Queues work on the streams of the emulated device: kernels, library calls,
// graphs.
#include <random>
#include <utility>

#include "kernels/emu/emu_device_impl.h"
#include "kernels/emu/gemm.h"
#include "kernels/gpu/device/call_check.h"

namespace hawser::emu {
namespace {

using gpu::Graph;
using gpu::GraphExec;
using gpu::Stream;

absl::Status NoSuch(absl::string_view what, uint64_t handle) {
  return InvalidArgument("no ", what, " ", handle, " on this device");
}

}  // namespace

// ---- queueing -------------------------------------------------------------

absl::Status EmuDevice::NotCapturing(Stream stream, absl::string_view call) {
  {
    MutexLock lock(&mu_);
    if (captures_.find(stream.value) == captures_.end()) {
      return absl::OkStatus();
    }
  }
  return Refuse(stream, FailedPrecondition(call, " on stream ", stream.value,
                                           ", which captures a graph"));
}

absl::Status EmuDevice::Refuse(Stream stream, absl::Status status) {
  MutexLock lock(&mu_);
  const auto found = captures_.find(stream.value);
  if (found != captures_.end() && found->second.status.ok()) {
    found->second.status = status;
  }
  return status;
}

absl::Status EmuDevice::Add(Stream stream, Step step) {
  absl::Status status = CheckStep(step, facts_);
  if (!status.ok()) return Refuse(stream, std::move(status));
  {
    MutexLock lock(&mu_);
    const auto found = captures_.find(stream.value);
    if (found != captures_.end()) {
      found->second.steps.push_back(std::move(step));
      return absl::OkStatus();
    }
  }
  return Queue(stream, std::make_shared<const Steps>(Steps{std::move(step)}),
               0);
}

absl::Status EmuDevice::Queue(Stream stream, std::shared_ptr<const Steps> steps,
                              size_t i) {
  uint64_t draw;
  bool is_fault;
  {
    MutexLock lock(&mu_);
    draw = std::mt19937_64(options_.seed + num_steps_++)();
    is_fault = static_cast<int64_t>(num_steps_) == options_.fault_at_step;
  }
  return timeline_.Push(
      stream,
      [this, steps = std::move(steps), i, draw, is_fault]() -> absl::Status {
        if (is_fault) return Internal("a planned fault");
        return RunStep((*steps)[i],
                       {&memory_, &facts_, SchedulesOf(draw), draw});
      });
}

// ---- kernels --------------------------------------------------------------

absl::StatusOr<gpu::KernelBinary> EmuDevice::Compile(
    absl::string_view name, absl::string_view text,
    const gpu::CompileOptions& options) {
  return compiler_.Compile(name, text, options);
}

absl::StatusOr<gpu::KernelModule> EmuDevice::LoadModule(
    absl::string_view bytes) {
  HAWSER_ASSIGN_OR_RETURN(const std::string file, compiler_.FileOf(bytes));
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<const HostModule> code,
                          HostModule::Open(file));
  MutexLock lock(&mu_);
  return gpu::KernelModule{modules_.Add({std::move(code), {}})};
}

absl::Status EmuDevice::UnloadModule(gpu::KernelModule module) {
  MutexLock lock(&mu_);
  const LoadedModule* loaded = modules_.Find(module.value);
  if (loaded == nullptr) return NoSuch("module", module.value);
  for (const auto& [name, kernel] : loaded->kernels) kernels_.Remove(kernel);
  modules_.Remove(module.value);
  return absl::OkStatus();
}

absl::StatusOr<gpu::Kernel> EmuDevice::FindKernel(gpu::KernelModule module,
                                                  absl::string_view name) {
  MutexLock lock(&mu_);
  LoadedModule* loaded = modules_.Find(module.value);
  if (loaded == nullptr) return NoSuch("module", module.value);
  const auto [entry, is_new] = loaded->kernels.emplace(name, 0);
  if (is_new) {
    const auto info = loaded->code->Find(entry->first);
    if (!info.ok()) {
      loaded->kernels.erase(entry);
      return info.status();
    }
    entry->second = kernels_.Add(std::make_shared<const HostKernel>(
        HostKernel{entry->first, loaded->code, *info}));
  }
  return gpu::Kernel{entry->second};
}

absl::Status EmuDevice::Launch(
    Stream stream, gpu::Kernel kernel, const gpu::LaunchShape& shape,
    absl::Span<const gpu::KernelArgument> arguments) {
  LaunchStep step{.shape = shape,
                  .arguments = {arguments.begin(), arguments.end()}};
  {
    MutexLock lock(&mu_);
    const auto* found = kernels_.Find(kernel.value);
    if (found == nullptr) return NoSuch("kernel", kernel.value);
    step.kernel = *found;
  }
  return Add(stream, std::move(step));
}

// ---- calls of libraries ---------------------------------------------------

absl::StatusOr<gpu::CallPlan> EmuDevice::PlanCall(
    const gpu::LibraryCall& call) {
  HAWSER_RETURN_IF_ERROR(std::visit(
      [](const auto& spec) {
        if constexpr (std::is_same_v<decltype(spec), const gpu::GemmSpec&>) {
          return emu::CheckGemm(spec);
        } else {
          return gpu::CheckCall(spec);
        }
      },
      call));
  MutexLock lock(&mu_);
  return gpu::CallPlan{
      plans_.Add(std::make_shared<const gpu::LibraryCall>(call))};
}

absl::Status EmuDevice::DestroyCall(gpu::CallPlan plan) {
  MutexLock lock(&mu_);
  if (!plans_.Remove(plan.value)) return NoSuch("call plan", plan.value);
  return absl::OkStatus();
}

absl::Status EmuDevice::RunCall(Stream stream, gpu::CallPlan plan,
                                const gpu::CallOperands& operands) {
  CallStep step{.operands = operands};
  {
    MutexLock lock(&mu_);
    const auto* found = plans_.Find(plan.value);
    if (found == nullptr) return NoSuch("call plan", plan.value);
    step.call = *found;
  }
  if (gpu::MayBlock(*step.call)) {
    HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "a call that blocks"));
  }
  return Add(stream, std::move(step));
}

// ---- graphs ---------------------------------------------------------------

absl::Status EmuDevice::BeginCapture(Stream stream) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "BeginCapture"));
  HAWSER_RETURN_IF_ERROR(timeline_.CheckStream(stream));
  MutexLock lock(&mu_);
  captures_[stream.value];
  return absl::OkStatus();
}

absl::StatusOr<Graph> EmuDevice::EndCapture(Stream stream) {
  MutexLock lock(&mu_);
  const auto found = captures_.find(stream.value);
  if (found == captures_.end()) {
    return FailedPrecondition("stream ", stream.value, " does not capture");
  }
  Capture capture = std::move(found->second);
  captures_.erase(found);
  HAWSER_RETURN_IF_ERROR(capture.status);
  return Graph{
      graphs_.Add(std::make_shared<const Steps>(std::move(capture.steps)))};
}

absl::Status EmuDevice::DestroyGraph(Graph graph) {
  MutexLock lock(&mu_);
  if (!graphs_.Remove(graph.value)) return NoSuch("graph", graph.value);
  return absl::OkStatus();
}

absl::StatusOr<GraphExec> EmuDevice::Instantiate(Graph graph) {
  MutexLock lock(&mu_);
  const auto* steps = graphs_.Find(graph.value);
  if (steps == nullptr) return NoSuch("graph", graph.value);
  return GraphExec{execs_.Add({*steps, nullptr})};
}

absl::Status EmuDevice::DestroyGraphExec(GraphExec exec) {
  MutexLock lock(&mu_);
  if (!execs_.Remove(exec.value)) return NoSuch("graph exec", exec.value);
  return absl::OkStatus();
}

absl::StatusOr<bool> EmuDevice::Update(GraphExec exec, Graph graph) {
  MutexLock lock(&mu_);
  Exec* old = execs_.Find(exec.value);
  if (old == nullptr) return NoSuch("graph exec", exec.value);
  const auto* steps = graphs_.Find(graph.value);
  if (steps == nullptr) return NoSuch("graph", graph.value);
  if (old->steps->size() != (*steps)->size()) return false;
  for (size_t i = 0; i < old->steps->size(); ++i) {
    if (!IsSameWork((*old->steps)[i], (**steps)[i])) return false;
  }
  old->steps = *steps;
  return true;
}

absl::Status EmuDevice::LaunchGraph(Stream stream, GraphExec exec) {
  HAWSER_RETURN_IF_ERROR(NotCapturing(stream, "LaunchGraph"));
  std::shared_ptr<const Steps> steps;
  MarkPtr last;
  {
    MutexLock lock(&mu_);
    const Exec* found = execs_.Find(exec.value);
    if (found == nullptr) return NoSuch("graph exec", exec.value);
    steps = found->steps;
    last = found->last;
  }
  if (last != nullptr) {
    HAWSER_RETURN_IF_ERROR(timeline_.PushWait(stream, std::move(last)));
  }
  for (size_t i = 0; i < steps->size(); ++i) {
    HAWSER_RETURN_IF_ERROR(Queue(stream, steps, i));
  }
  HAWSER_ASSIGN_OR_RETURN(last, timeline_.PushMark(stream));
  MutexLock lock(&mu_);
  if (Exec* found = execs_.Find(exec.value)) found->last = std::move(last);
  return absl::OkStatus();
}

}  // namespace hawser::emu
