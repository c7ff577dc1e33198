#include "kernels/gpu/pending_run.h"

#include <utility>

#include "core/base/status.h"
#include "kernels/gpu/gpu_buffer.h"

namespace hawser::gpu {

absl::StatusOr<std::vector<RunArgument>> TakeArguments(
    const GpuExecutable& executable, std::vector<GivenArgument>& arguments,
    int holders) {
  std::vector<RunArgument> taken(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    GivenArgument& given = arguments[i];
    HAWSER_ASSIGN_OR_RETURN(taken[i].value, given.value.Await());
    given.value = {};
    // A value of the call itself is nobody else's.
    bool is_last = given.buffer == nullptr;
    if (given.is_donated && given.buffer.use_count() == holders &&
        executable.MayTake(static_cast<int>(i))) {
      is_last = static_cast<GpuBuffer&>(*given.buffer).Take().has_value();
    }
    taken[i].is_given = is_last && taken[i].value.memory.use_count() == 1;
  }
  return taken;
}

PendingRun::PendingRun(std::shared_ptr<GpuExecutable> executable,
                       std::shared_ptr<Engine> engine,
                       std::vector<GivenArgument> arguments,
                       const runtime::CallOptions& call)
    : executable_(std::move(executable)),
      engine_(std::move(engine)),
      arguments_(std::move(arguments)),
      call_(call),
      promises_(executable_->signature().results.size()) {}

std::vector<Future<DeviceValue>> PendingRun::results() const {
  std::vector<Future<DeviceValue>> futures;
  for (const auto& promise : promises_) futures.push_back(promise.future());
  return futures;
}

void PendingRun::Start() {
  expiry_ = call_.cancel.OnExpiry(
      [weak = weak_from_this()](const absl::Status& expired) {
        if (auto self = weak.lock()) self->SetAll(expired);
      });
  std::vector<Future<DeviceValue>> awaited;
  for (const GivenArgument& argument : arguments_) {
    if (!argument.value.ready()) awaited.push_back(argument.value);
  }
  missing_ += static_cast<int>(awaited.size());
  for (const auto& value : awaited) {
    value.OnReady(
        [self = shared_from_this()](const auto&) { self->ArgumentReady(); });
  }
  ArgumentReady();
}

void PendingRun::ArgumentReady() {
  if (--missing_ > 0) return;
  ThreadPool& threads =
      executable_->blocks() ? engine_->blocking_runs() : engine_->queueing();
  threads.Schedule([self = shared_from_this()] { self->Run(); });
}

void PendingRun::Run() {
  auto results = Queue();
  arguments_.clear();
  if (results.ok()) {
    for (size_t r = 0; r < promises_.size(); ++r) {
      promises_[r].Set(std::move((*results)[r]));
    }
  } else {
    SetAll(results.status());
  }
  engine_->End();
}

absl::StatusOr<std::vector<DeviceValue>> PendingRun::Queue() {
  HAWSER_RETURN_IF_ERROR(call_.cancel.Check());
  HAWSER_ASSIGN_OR_RETURN(std::vector<RunArgument> taken,
                          TakeArguments(*executable_, arguments_, 1));
  return executable_->Queue(std::move(taken), call_);
}

void PendingRun::SetAll(const absl::Status& status) {
  for (auto& promise : promises_) promise.Set(status);
}

}  // namespace hawser::gpu
