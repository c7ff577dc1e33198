#include "client/fallback/fallback_executable.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fallback/fallback_buffer.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// After CheckOwn.
FallbackBuffer* OwnBuffer(const runtime::Argument& argument) {
  const auto* buffer = std::get_if<runtime::BufferPtr>(&argument);
  return buffer == nullptr ? nullptr
                           : static_cast<FallbackBuffer*>(buffer->get());
}

}  // namespace

absl::StatusOr<FallbackExecutable::Executables> FallbackExecutable::OnPrimary(
    const runtime::CallOptions& call) {
  {
    MutexLock lock(&mu_);
    if (only_secondary_) {
      return Unimplemented(client_->primary_->name(), " cannot run this");
    }
    if (primary_ != nullptr) return primary_;
  }
  runtime::CallOptions attempt = call;
  attempt.cancel = CancelToken(client_->AttemptDeadline(call));
  auto compiled = client_->primary_->Compile(module_, options_, attempt);
  MutexLock lock(&mu_);
  if (compiled.ok()) primary_ = *compiled;
  if (absl::IsUnimplemented(compiled.status())) only_secondary_ = true;
  return compiled;
}

absl::StatusOr<FallbackExecutable::Executables>
FallbackExecutable::OnSecondary() {
  {
    MutexLock lock(&mu_);
    if (secondary_ != nullptr) return secondary_;
  }
  HAWSER_ASSIGN_OR_RETURN(
      Executables compiled,
      client_->secondary_->Compile(module_, options_, {}));
  MutexLock lock(&mu_);
  if (secondary_ == nullptr) secondary_ = compiled;
  return secondary_;
}

absl::Status FallbackExecutable::Compile(const runtime::CallOptions& call) {
  const uint64_t epoch = client_->breaker_.epoch();
  if (!Breaker::IsOpen(epoch)) {
    absl::Status status = OnPrimary(call).status();
    if (status.ok() || !client_->GiveUp(status, epoch, call)) return status;
  }
  return OnSecondary().status();
}

absl::Status FallbackExecutable::CheckOwn(
    absl::Span<const runtime::Argument> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<runtime::BufferPtr>(&arguments[i]);
    if (buffer == nullptr || (*buffer)->client() == client_) continue;
    return FailedPrecondition("argument ", i, " lives on another client, not ",
                              "on ", client_->name());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<runtime::BufferPtr>> FallbackExecutable::Execute(
    absl::Span<const runtime::Argument> arguments,
    const runtime::ExecuteOptions& options) {
  HAWSER_RETURN_IF_ERROR(CheckArguments(signature(), arguments));
  HAWSER_RETURN_IF_ERROR(CheckOwn(arguments));
  const uint64_t epoch = client_->breaker_.epoch();
  if (!Breaker::IsOpen(epoch)) {
    auto results = ExecuteOnPrimary(arguments, options, epoch);
    if (results.ok() ||
        !client_->GiveUp(results.status(), epoch, options.call)) {
      return results;
    }
  }
  ++client_->secondary_runs_;
  // The recipe is followed at once, so that work is queued as on the primary.
  auto results = Wrap(arguments, {}, epoch, options.call);
  for (const runtime::BufferPtr& result : results) {
    HAWSER_RETURN_IF_ERROR(client_->recipes_.OnSecondary(
        static_cast<FallbackBuffer*>(result.get())->recipe()));
  }
  return results;
}

absl::StatusOr<std::vector<runtime::Argument>>
FallbackExecutable::PrimaryArguments(
    absl::Span<const runtime::Argument> arguments, uint64_t epoch,
    const runtime::CallOptions& call) {
  std::vector<runtime::Argument> out;
  out.reserve(arguments.size());
  for (const runtime::Argument& argument : arguments) {
    if (FallbackBuffer* own = OwnBuffer(argument)) {
      HAWSER_ASSIGN_OR_RETURN(runtime::Argument there,
                              own->OnPrimary(epoch, call));
      out.push_back(std::move(there));
    } else {
      out.push_back(argument);
    }
  }
  return out;
}

absl::StatusOr<std::vector<runtime::BufferPtr>>
FallbackExecutable::ExecuteOnPrimary(
    absl::Span<const runtime::Argument> arguments,
    const runtime::ExecuteOptions& options, uint64_t epoch) {
  HAWSER_ASSIGN_OR_RETURN(Executables executable, OnPrimary(options.call));
  HAWSER_ASSIGN_OR_RETURN(
      auto there, PrimaryArguments(arguments, epoch, options.call));
  for (int i : options.donated) {
    if (FallbackBuffer* own = OwnBuffer(arguments[i])) own->ForgetPrimary();
  }
  HAWSER_ASSIGN_OR_RETURN(auto results, executable->Execute(there, options));
  return Wrap(arguments, std::move(results), epoch, options.call);
}

std::vector<runtime::BufferPtr> FallbackExecutable::Wrap(
    absl::Span<const runtime::Argument> arguments,
    std::vector<runtime::BufferPtr> primary, uint64_t epoch,
    const runtime::CallOptions& call) {
  std::vector<RecipeArgument> sources;
  sources.reserve(arguments.size());
  for (const runtime::Argument& argument : arguments) {
    if (const FallbackBuffer* own = OwnBuffer(argument)) {
      sources.emplace_back(own->recipe());
    } else {
      sources.emplace_back(std::get<Literal>(argument));
    }
  }
  auto made = client_->recipes_.OfExecution(
      [self = shared_from_this()] { return self->OnSecondary(); },
      module_->name(), std::move(sources), signature());
  std::vector<runtime::BufferPtr> results;
  for (size_t i = 0; i < made.recipes.size(); ++i) {
    results.push_back(std::make_shared<FallbackBuffer>(
        client_, primary.empty() ? nullptr : primary[i], epoch,
        made.recipes[i]));
    if (!made.checkpoint || primary.empty() ||
        signature().results[i].byte_size() >
            client_->policy_.checkpoint_bytes) {
      continue;
    }
    primary[i]->Fetch({}).OnReady(
        [gate = client_->gate_, client = client_,
         recipe = made.recipes[i]](const absl::StatusOr<Literal>& value) {
          const Gate::Pass pass = gate->Enter();
          if (pass && value.ok()) client->recipes_.Checkpoint(recipe, *value);
        });
  }
  return results;
}

Future<std::vector<Literal>> FallbackExecutable::Call(
    absl::Span<const runtime::Argument> arguments,
    const runtime::CallOptions& options) {
  using Results = std::vector<Literal>;
  absl::Status checked = CheckArguments(signature(), arguments);
  if (checked.ok()) checked = CheckOwn(arguments);
  if (!checked.ok()) return Future<Results>(checked);
  const uint64_t epoch = client_->breaker_.epoch();
  std::vector<runtime::Argument> kept(arguments.begin(), arguments.end());
  if (Breaker::IsOpen(epoch)) return CallSecondary(kept, options);
  runtime::CallOptions attempt = options;
  attempt.cancel = CancelToken(client_->AttemptDeadline(options));
  auto executable = OnPrimary(attempt);
  auto there = PrimaryArguments(arguments, epoch, options);
  for (const absl::Status& s : {executable.status(), there.status()}) {
    if (s.ok()) continue;
    return client_->GiveUp(s, epoch, options) ? CallSecondary(kept, options)
                                              : Future<Results>(s);
  }
  auto promise = std::make_shared<Promise<Results>>();
  auto future = promise->future();
  (*executable)
      ->Call(*there, attempt)
      .OnReady([self = shared_from_this(), gate = client_->gate_, promise,
                kept, options, epoch](const absl::StatusOr<Results>& value) {
        const Gate::Pass pass = gate->Enter();
        if (value.ok() || !pass ||
            !self->client_->GiveUp(value.status(), epoch, options)) {
          promise->Set(value);
          return;
        }
        // Not here: this may be a thread that must not compile.
        self->client_->worker_.Soon([self, promise, kept, options] {
          self->CallSecondary(kept, options)
              .OnReady([promise](const auto& v) { promise->Set(v); });
        });
      });
  return future;
}

Future<std::vector<Literal>> FallbackExecutable::CallSecondary(
    const std::vector<runtime::Argument>& arguments,
    const runtime::CallOptions& options) {
  using Results = std::vector<Literal>;
  ++client_->secondary_runs_;
  auto executable = OnSecondary();
  if (!executable.ok()) return Future<Results>(executable.status());
  std::vector<runtime::Argument> there;
  for (const runtime::Argument& argument : arguments) {
    const FallbackBuffer* own = OwnBuffer(argument);
    if (own == nullptr) {
      there.push_back(argument);
      continue;
    }
    auto buffer = client_->recipes_.OnSecondary(own->recipe());
    if (!buffer.ok()) return Future<Results>(buffer.status());
    there.push_back(*std::move(buffer));
  }
  return (*executable)->Call(there, options);
}

}  // namespace hawser
