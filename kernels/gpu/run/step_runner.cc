#include "kernels/gpu/run/step_runner.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"

namespace hawser::gpu {
namespace {

// Iterations of a long loop that may be queued before the device has done them.
constexpr int64_t kTurnsAhead = 256;

}  // namespace

absl::Status StepRunner::Run(const plan::Steps& steps) {
  for (const plan::Step& step : steps) {
    HAWSER_RETURN_IF_ERROR(std::visit(
        [this](const auto& action) { return Do(action); }, step.action));
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Do(const plan::WorkStep& step) {
  return std::visit([this](const auto& work) { return Do(work); },
                    compiled_.program.works[step.work]);
}

absl::Status StepRunner::Do(const LaunchStep& step) {
  TraceSpan span("run", compiled_.program.kernels[step.kernel].name);
  span.Add("work_streams", step.work_streams);
  int64_t bytes = 0;
  absl::InlinedVector<KernelArgument, 16> arguments;
  for (const auto& [slot, access] : step.parameters) {
    arguments.push_back(KernelArgument::Range(At(slot), slot.bytes, access));
    bytes += slot.bytes;
  }
  span.Add("bytes", bytes);
  return device_.Launch(work_stream_->stream(),
                        compiled_.code->kernels[step.kernel].kernel, step.shape,
                        arguments);
}

absl::Status StepRunner::Do(const LibraryStep& step) {
  const LibraryCall& call = compiled_.program.library_calls[step.call];
  if (MayBlock(call)) HAWSER_RETURN_IF_ERROR(cancel_.Check());
  TraceSpan span("run", NameOf(call));
  CallOperands operands{.workspace = bases_[plan::Slot::kArena] +
                                     compiled_.program.workspace_offset};
  int64_t bytes = 0;
  for (const plan::Slot& slot : step.operands) {
    operands.operands.push_back(At(slot));
    bytes += slot.bytes;
  }
  for (const plan::Slot& slot : step.results) {
    operands.results.push_back(At(slot));
    bytes += slot.bytes;
  }
  span.Add("bytes", bytes);
  span.Add("work_streams", step.work_streams);
  return device_.RunCall(work_stream_->stream(),
                         compiled_.code->library_calls[step.call]->plan(),
                         operands);
}

absl::Status StepRunner::Do(const plan::CopyStep& step) {
  if (At(step.to) == At(step.from)) return absl::OkStatus();
  TraceSpan span("run", "copy");
  span.Add("bytes", 2 * step.to.bytes);
  return device_.CopyOnDevice(work_stream_->stream(), At(step.to),
                              At(step.from), step.to.bytes);
}

absl::Status StepRunner::Do(const HostStep& step) {
  HAWSER_RETURN_IF_ERROR(cancel_.Check());
  const HostCall& call = compiled_.program.calls[step.call];
  const TraceSpan span("run", call.name);
  const Signature& signature = call.module.signature();
  std::vector<Literal> operands;
  for (size_t k = 0; k < step.operands.size(); ++k) {
    HAWSER_ASSIGN_OR_RETURN(
        Literal value,
        engine_->transfers().FetchOn(work_stream_, At(step.operands[k]),
                                     signature.parameters[k]));
    operands.push_back(std::move(value));
  }
  const int entry = static_cast<int>(call.module.computations().size()) - 1;
  auto results = host_->Evaluate(call.module, entry, operands, cancel_);
  if (!results.ok()) return Annotate(results.status(), call.name);
  for (size_t r = 0; r < step.results.size(); ++r) {
    HAWSER_RETURN_IF_ERROR(engine_->transfers().UploadOn(
        work_stream_, At(step.results[r]), (*results)[r]));
  }
  return absl::OkStatus();
}

void StepRunner::MakeWay() {
  if (sharing_ == nullptr || !sharing_->others_wait()) return;
  const ThreadPool::Blocking blocking(&engine_->blocking_runs());
  sharing_->MakeWay();
}

absl::Status StepRunner::DoKnownLoop(const plan::LoopStep& step) {
  for (int64_t turn = 0; turn < *step.trips; ++turn) {
    if (compiled_.program.blocks) {
      HAWSER_RETURN_IF_ERROR(cancel_.Check());
      if (turn % kTurnsAhead == kTurnsAhead - 1) {
        HAWSER_RETURN_IF_ERROR(device_.AwaitStream(work_stream_->stream()));
        MakeWay();
      }
    }
    HAWSER_RETURN_IF_ERROR(Run(step.body));
  }
  return absl::OkStatus();
}

absl::Status StepRunner::Do(const plan::LoopStep& step) {
  if (step.trips) return DoKnownLoop(step);
  const Shape predicate = Shape::Scalar(DType::kBool);
  while (true) {
    HAWSER_RETURN_IF_ERROR(cancel_.Check());
    HAWSER_RETURN_IF_ERROR(Run(step.condition));
    HAWSER_ASSIGN_OR_RETURN(const Literal holds,
                            engine_->transfers().FetchOn(
                                work_stream_, At(step.predicate), predicate));
    if (!holds.data<bool>()[0]) return absl::OkStatus();
    MakeWay();
    HAWSER_RETURN_IF_ERROR(Run(step.body));
  }
}

absl::Status StepRunner::Do(const plan::CaseStep& step) {
  HAWSER_RETURN_IF_ERROR(cancel_.Check());
  HAWSER_ASSIGN_OR_RETURN(const Literal index, engine_->transfers().FetchOn(
                                                   work_stream_, At(step.index),
                                                   Shape::Scalar(DType::kS32)));
  const int32_t which = index.data<int32_t>()[0];
  const auto last = static_cast<int32_t>(step.branches.size()) - 1;
  return Run(step.branches[which < 0 || which > last ? last : which]);
}

}  // namespace hawser::gpu
