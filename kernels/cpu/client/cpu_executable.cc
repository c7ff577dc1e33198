#include "kernels/cpu/client/cpu_executable.h"

#include <algorithm>

#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "core/runtime/pending_run.h"
#include "kernels/cpu/client/cpu_buffer.h"

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

// The value of an argument that is ready.
absl::StatusOr<Literal> ReadyValue(const Argument& argument) {
  if (const auto* literal = std::get_if<Literal>(&argument)) return *literal;
  return ValueOf(std::get<BufferPtr>(argument)).Await();
}

// The values of arguments that are all ready, in place of the arguments. Lets
// go of each donated buffer: if that was its last holder, its bytes are the
// program's to reuse. The other buffers are held until the caller's end.
absl::StatusOr<std::vector<Literal>> TakeValues(absl::Span<Argument> arguments,
                                                absl::Span<const int> donated) {
  std::vector<Literal> values;
  for (Argument& argument : arguments) {
    if (auto* literal = std::get_if<Literal>(&argument)) {
      values.push_back(std::move(*literal));
      continue;
    }
    HAWSER_ASSIGN_OR_RETURN(Literal value, ReadyValue(argument));
    values.push_back(std::move(value));
  }
  for (int i : donated) arguments[i] = Literal();
  return values;
}

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
  const CancelToken token = runtime::AttemptToken(options.call);
  auto work =
      [self = shared_from_this(), token, call = options.call,
       given = std::vector<Argument>(arguments.begin(), arguments.end()),
       donated =
           options.donated]() mutable -> absl::StatusOr<std::vector<Literal>> {
    HAWSER_RETURN_IF_ERROR(token.Check());
    HAWSER_ASSIGN_OR_RETURN(std::vector<Literal> values,
                            TakeValues(absl::MakeSpan(given), donated));
    return self->Run(std::move(values), &self->state_->pool, token, call);
  };
  const auto run = std::make_shared<runtime::PendingRun<Literal>>(
      std::shared_ptr<Gate>(state_, &state_->gate), &state_->pool,
      signature().results.size(), std::move(work));
  if (!run->is_inside()) return FailedPrecondition("the cpu client is gone");
  std::vector<Future<Literal>> awaited;
  for (const Argument& argument : arguments) {
    if (!IsReady(argument) || !ReadyValue(argument).ok()) {
      awaited.push_back(ValueOf(std::get<BufferPtr>(argument)));
    }
  }
  std::vector<BufferPtr> results;
  for (Future<Literal>& value : run->results()) {
    results.push_back(std::make_shared<CpuBuffer>(
        state_, signature().results[results.size()], std::move(value)));
  }
  run->Start(std::move(awaited), token);
  return results;
}

std::optional<absl::StatusOr<std::vector<Literal>>> CpuExecutable::RunAtOnce(
    absl::Span<const Argument> arguments,
    const runtime::CallOptions& call) const {
  if (cost_ > state_->inline_cost) return std::nullopt;
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

Future<runtime::Called> CpuExecutable::Call(
    absl::Span<const Argument> arguments, const runtime::CallOptions& options) {
  absl::Status status = Check(arguments, {});
  if (!status.ok()) return Future<runtime::Called>(std::move(status));
  if (auto results = RunAtOnce(arguments, options)) {
    if (!results->ok()) return Future<runtime::Called>(results->status());
    return Future<runtime::Called>(
        runtime::Called{**std::move(results), {"cpu"}});
  }
  return Executable::Call(arguments, options);
}

}  // namespace hawser::cpu
