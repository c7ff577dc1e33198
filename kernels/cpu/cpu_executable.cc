#include "kernels/cpu/cpu_executable.h"

#include <algorithm>
#include <atomic>

#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "kernels/cpu/cpu_buffer.h"

namespace hawser::cpu {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

const Future<Literal>& ValueOf(const BufferPtr& buffer) {
  return static_cast<const CpuBuffer&>(*buffer).value();
}

bool IsReady(const Argument& argument) {
  const auto* buffer = std::get_if<BufferPtr>(&argument);
  return buffer == nullptr || ValueOf(*buffer).ready();
}

// Of an argument that is ready.
absl::StatusOr<Literal> ReadyValue(const Argument& argument) {
  if (const auto* literal = std::get_if<Literal>(&argument)) return *literal;
  return ValueOf(std::get<BufferPtr>(argument)).Await();
}

// One execution that waits for its arguments or its turn. Its buffers, the
// tasks and the callbacks that lead to it keep it alive.
class PendingRun : public std::enable_shared_from_this<PendingRun> {
 public:
  PendingRun(std::shared_ptr<const CpuExecutable> executable,
             std::shared_ptr<ClientState> state,
             absl::Span<const Argument> arguments,
             const runtime::ExecuteOptions& options)
      : executable_(std::move(executable)),
        state_(std::move(state)),
        arguments_(arguments.begin(), arguments.end()),
        donated_(options.donated),
        token_(runtime::AttemptToken(options.call)),
        call_(options.call),
        promises_(executable_->signature().results.size()),
        missing_(1) {}

  std::vector<BufferPtr> Results() const {
    std::vector<BufferPtr> results;
    for (size_t i = 0; i < promises_.size(); ++i) {
      results.push_back(std::make_shared<CpuBuffer>(
          state_, executable_->signature().results[i], promises_[i].future()));
    }
    return results;
  }

  void Start() {
    // The callers get their answer then; the work ends at its next look at the
    // token, and holds its memory until then.
    expiry_ =
        token_.OnExpiry([weak = weak_from_this()](const absl::Status& expired) {
          if (auto self = weak.lock()) self->SetAll(expired);
        });
    std::vector<Future<Literal>> awaited;
    for (const Argument& argument : arguments_) {
      if (!IsReady(argument)) {
        awaited.push_back(ValueOf(std::get<BufferPtr>(argument)));
      }
    }
    // missing_ starts at 1, for this function: no early start in between.
    missing_ += static_cast<int>(awaited.size());
    for (const Future<Literal>& value : awaited) {
      value.OnReady(
          [self = shared_from_this()](const auto&) { self->ArgumentReady(); });
    }
    ArgumentReady();
  }

 private:
  void ArgumentReady() {
    if (--missing_ > 0) return;
    state_->pool.Schedule([self = shared_from_this()] { self->Run(); });
  }

  void Run() {
    auto results = RunOnValues();
    if (results.ok()) {
      for (size_t i = 0; i < promises_.size(); ++i) {
        promises_[i].Set(std::move((*results)[i]));
      }
    } else {
      SetAll(results.status());
    }
    arguments_.clear();
    state_->End();
  }

  absl::StatusOr<std::vector<Literal>> RunOnValues() {
    HAWSER_RETURN_IF_ERROR(token_.Check());
    std::vector<Literal> values;
    for (Argument& argument : arguments_) {
      if (auto* literal = std::get_if<Literal>(&argument)) {
        values.push_back(std::move(*literal));
        continue;
      }
      HAWSER_ASSIGN_OR_RETURN(Literal value, ReadyValue(argument));
      values.push_back(std::move(value));
    }
    // Our hold on a donated buffer ends here: if it was the last, its bytes
    // are the program's to reuse. The others are held until the end.
    for (int i : donated_) arguments_[i] = Literal();
    return executable_->Run(std::move(values), &state_->pool, token_, call_);
  }

  void SetAll(const absl::Status& status) {
    for (Promise<Literal>& promise : promises_) promise.Set(status);
  }

  const std::shared_ptr<const CpuExecutable> executable_;
  const std::shared_ptr<ClientState> state_;
  std::vector<Argument> arguments_;
  const std::vector<int> donated_;
  const CancelToken token_;
  const runtime::CallOptions call_;
  std::vector<Promise<Literal>> promises_;  // Set is thread-safe
  std::atomic<int> missing_;
  CancelToken::Registration expiry_;
};

}  // namespace

absl::Status CpuExecutable::Check(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) const {
  HAWSER_RETURN_IF_ERROR(runtime::CheckArguments(signature(), arguments));
  const runtime::Client* client = state_->client.load();
  if (client == nullptr) return FailedPrecondition("the cpu client is gone");
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<BufferPtr>(&arguments[i]);
    if (buffer == nullptr || (*buffer)->client() == client) continue;
    return FailedPrecondition("argument ", i,
                              " is a buffer of another client, not of cpu");
  }
  for (int i : options.donated) {
    if (i >= 0 && i < static_cast<int>(arguments.size())) continue;
    return InvalidArgument("donated argument ", i, " is not one of the ",
                           arguments.size());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Literal>> CpuExecutable::Run(
    std::vector<Literal> arguments, ThreadPool* pool, const CancelToken& cancel,
    const runtime::CallOptions& call) const {
  return program_.Run(std::move(arguments),
                      {.pool = pool,
                       .allocator = state_->allocator.get(),
                       .memory = call.memory,
                       .numerics = numerics_,
                       .cancel = cancel,
                       .sharing = call.sharing});
}

std::vector<BufferPtr> CpuExecutable::Ready(
    absl::StatusOr<std::vector<Literal>> results) const {
  std::vector<BufferPtr> buffers;
  buffers.reserve(signature().results.size());
  for (size_t i = 0; i < signature().results.size(); ++i) {
    absl::StatusOr<Literal> value =
        results.ok() ? absl::StatusOr<Literal>(std::move((*results)[i]))
                     : results.status();
    buffers.push_back(std::make_shared<CpuBuffer>(
        state_, signature().results[i], Future<Literal>(std::move(value))));
  }
  return buffers;
}

absl::StatusOr<std::vector<BufferPtr>> CpuExecutable::Start(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) {
  if (!state_->Begin()) return FailedPrecondition("the cpu client is gone");
  auto run = std::make_shared<PendingRun>(shared_from_this(), state_, arguments,
                                          options);
  std::vector<BufferPtr> results = run->Results();
  run->Start();
  return results;
}

std::optional<absl::StatusOr<std::vector<Literal>>> CpuExecutable::RunAtOnce(
    absl::Span<const Argument> arguments,
    const runtime::CallOptions& call) const {
  if (program_.cost() > state_->inline_cost) return std::nullopt;
  if (!std::all_of(arguments.begin(), arguments.end(), IsReady)) {
    return std::nullopt;
  }
  std::vector<Literal> values;
  values.reserve(arguments.size());
  for (const Argument& argument : arguments) {
    absl::StatusOr<Literal> value = ReadyValue(argument);
    if (!value.ok()) return value.status();
    values.push_back(*std::move(value));
  }
  return Run(std::move(values), nullptr, call.cancel, call);
}

absl::StatusOr<std::vector<BufferPtr>> CpuExecutable::Execute(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) {
  HAWSER_RETURN_IF_ERROR(Check(arguments, options));
  if (auto results = RunAtOnce(arguments, options.call)) {
    return Ready(*std::move(results));
  }
  return Start(arguments, options);
}

Future<std::vector<Literal>> CpuExecutable::Call(
    absl::Span<const Argument> arguments, const runtime::CallOptions& options) {
  absl::Status status = Check(arguments, {});
  if (!status.ok()) return Future<std::vector<Literal>>(std::move(status));
  if (auto results = RunAtOnce(arguments, options)) {
    return Future<std::vector<Literal>>(*std::move(results));
  }
  return Executable::Call(arguments, options);
}

}  // namespace hawser::cpu
