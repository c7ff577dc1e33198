#include "client/fallback/fallback_executable.h"

#include <utility>

#include "client/fallback/fallback_buffer.h"
#include "client/recipes/place.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// After Check.
FallbackBuffer* OwnBuffer(const runtime::Argument& argument) {
  const auto* buffer = std::get_if<runtime::BufferPtr>(&argument);
  return buffer == nullptr ? nullptr
                           : static_cast<FallbackBuffer*>(buffer->get());
}

}  // namespace

absl::Status FallbackExecutable::Check(
    absl::Span<const runtime::Argument> arguments,
    const std::vector<int>& donated) const {
  HAWSER_RETURN_IF_ERROR(CheckArguments(signature(), arguments));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto* buffer = std::get_if<runtime::BufferPtr>(&arguments[i]);
    if (buffer == nullptr) continue;
    // The gate too: an address may be used again by another client.
    if ((*buffer)->client() != client_ ||
        OwnBuffer(arguments[i])->gate() != gate_) {
      return FailedPrecondition("argument ", i, " lives on another client, ",
                                "not on ", client_->name());
    }
  }
  for (int i : donated) {
    if (i >= 0 && i < static_cast<int>(arguments.size())) continue;
    return InvalidArgument("argument ", i, " is donated, but there are ",
                           arguments.size());
  }
  return absl::OkStatus();
}

absl::Status FallbackExecutable::WhyNotPrimary(const Attempt& attempt) {
  if (Breaker::IsOpen(attempt.epoch)) return client_->Missing(attempt.epoch);
  MutexLock lock(&mu_);
  return incapable_;
}

bool FallbackExecutable::GiveUp(const absl::Status& status,
                                const Attempt& attempt) {
  if (!client_->GiveUp(status, attempt)) return false;
  if (absl::IsUnimplemented(status)) {
    MutexLock lock(&mu_);
    incapable_ = status;
  }
  return true;
}

absl::StatusOr<FallbackExecutable::Executables> FallbackExecutable::OnPrimary(
    uint64_t epoch, const runtime::CallOptions& bounded) {
  {
    MutexLock lock(&mu_);
    if (primary_ != nullptr && primary_epoch_ == epoch) return primary_;
  }
  HAWSER_ASSIGN_OR_RETURN(
      Executables compiled,
      client_->primary_->Compile(module_, options_, bounded));
  MutexLock lock(&mu_);
  primary_ = compiled;
  primary_epoch_ = epoch;
  return compiled;
}

absl::StatusOr<FallbackExecutable::Executables> FallbackExecutable::CompiledAt(
    const Place& place) {
  if (place.client == client_->secondary_.get()) return OnSecondary();
  return OnPrimary(place.life, place.call);
}

absl::StatusOr<FallbackExecutable::Executables>
FallbackExecutable::OnSecondary() {
  {
    MutexLock lock(&mu_);
    if (secondary_ != nullptr) return secondary_;
  }
  HAWSER_ASSIGN_OR_RETURN(Executables compiled,
                          client_->secondary_->Compile(module_, options_, {}));
  MutexLock lock(&mu_);
  if (secondary_ == nullptr) secondary_ = compiled;
  return secondary_;
}

absl::Status FallbackExecutable::Compile(const runtime::CallOptions& call) {
  const Attempt attempt = client_->Begin(call);
  if (WhyNotPrimary(attempt).ok()) {
    const absl::Status status =
        OnPrimary(attempt.epoch, Bounded(call, attempt)).status();
    if (status.ok() || !GiveUp(status, attempt)) return status;
  }
  return OnSecondary().status();
}

absl::StatusOr<std::vector<runtime::Argument>>
FallbackExecutable::PrimaryArguments(
    absl::Span<const runtime::Argument> arguments, const Attempt& attempt,
    const runtime::CallOptions& call) {
  std::vector<runtime::Argument> out;
  out.reserve(arguments.size());
  for (const runtime::Argument& argument : arguments) {
    if (FallbackBuffer* own = OwnBuffer(argument)) {
      HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr there,
                              own->OnPrimary(attempt, call));
      out.emplace_back(std::move(there));
    } else {
      out.push_back(argument);
    }
  }
  return out;
}

absl::StatusOr<std::vector<runtime::Argument>>
FallbackExecutable::SecondaryArguments(
    absl::Span<const runtime::Argument> arguments) {
  std::vector<runtime::Argument> out;
  out.reserve(arguments.size());
  for (const runtime::Argument& argument : arguments) {
    if (const FallbackBuffer* own = OwnBuffer(argument)) {
      HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr there,
                              client_->recipes_.AtHome(own->recipe()));
      out.emplace_back(std::move(there));
    } else {
      out.push_back(argument);
    }
  }
  return out;
}

absl::StatusOr<std::vector<runtime::BufferPtr>> FallbackExecutable::Execute(
    absl::Span<const runtime::Argument> arguments,
    const runtime::ExecuteOptions& options) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return FallbackClient::Gone();
  HAWSER_RETURN_IF_ERROR(Check(arguments, options.donated));
  for (PatientCall call{options.call};;) {
    const Attempt attempt = client_->Begin(options.call);
    absl::Status primary = WhyNotPrimary(attempt);
    if (primary.ok()) {
      auto results = ExecuteOnPrimary(arguments, options, attempt);
      if (results.ok() || !GiveUp(results.status(), attempt)) return results;
      primary = results.status();
    }
    auto results = ExecuteOnSecondary(arguments, options.call, attempt);
    if (!IsElsewhere(results.status())) return results;
    if (!client_->MayDiffer(attempt)) return primary;
    HAWSER_RETURN_IF_ERROR(client_->AwaitPrimary(&call, results.status()));
  }
}

absl::StatusOr<std::vector<runtime::BufferPtr>>
FallbackExecutable::ExecuteOnPrimary(
    absl::Span<const runtime::Argument> arguments,
    const runtime::ExecuteOptions& options, const Attempt& attempt) {
  HAWSER_ASSIGN_OR_RETURN(
      Executables executable,
      OnPrimary(attempt.epoch, Bounded(options.call, attempt)));
  HAWSER_ASSIGN_OR_RETURN(auto there,
                          PrimaryArguments(arguments, attempt, options.call));
  HAWSER_ASSIGN_OR_RETURN(
      auto results,
      executable->Execute(there, {.call = Bounded(options.call, attempt),
                                  .donated = options.donated}));
  for (int i : options.donated) {
    if (FallbackBuffer* own = OwnBuffer(arguments[i])) own->ForgetPrimary();
  }
  return Wrap(arguments, std::move(results), attempt);
}

absl::StatusOr<std::vector<runtime::BufferPtr>>
FallbackExecutable::ExecuteOnSecondary(
    absl::Span<const runtime::Argument> arguments,
    const runtime::CallOptions& call, const Attempt& attempt) {
  HAWSER_ASSIGN_OR_RETURN(Executables executable, OnSecondary());
  HAWSER_ASSIGN_OR_RETURN(auto there, SecondaryArguments(arguments));
  ++client_->secondary_runs_;
  HAWSER_ASSIGN_OR_RETURN(
      auto made, executable->Execute(
                     there, {.call = WithoutAttempt(call), .donated = {}}));
  std::vector<runtime::BufferPtr> results;
  results.reserve(made.size());
  for (runtime::BufferPtr& result : made) {
    results.push_back(
        FallbackBuffer::Make(client_, nullptr, attempt,
                             client_->recipes_.OfMade(std::move(result))));
  }
  return results;
}

std::vector<runtime::BufferPtr> FallbackExecutable::Wrap(
    absl::Span<const runtime::Argument> arguments,
    std::vector<runtime::BufferPtr> primary, const Attempt& attempt) {
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
      [self = shared_from_this()](const Place& place) {
        return self->CompiledAt(place);
      },
      module_->name(), std::move(sources), signature());
  std::vector<runtime::BufferPtr> results;
  results.reserve(primary.size());
  for (size_t i = 0; i < primary.size(); ++i) {
    if (made.checkpoint &&
        primary[i]->shape().byte_size() <= client_->policy_.checkpoint_bytes) {
      FetchCheckpoint(primary[i], made.recipes[i]);
    }
    results.push_back(FallbackBuffer::Make(
        client_, std::move(primary[i]), attempt, std::move(made.recipes[i])));
  }
  return results;
}

void FallbackExecutable::FetchCheckpoint(const runtime::BufferPtr& primary,
                                         RecipePtr recipe) {
  primary->Fetch({}).OnReady(
      [gate = gate_, client = client_,
       recipe = std::move(recipe)](const absl::StatusOr<Literal>& value) {
        const Gate::Pass pass = gate->Enter();
        if (pass && value.ok()) client->recipes_.Checkpoint(recipe, *value);
      });
}

Future<FallbackExecutable::Called> FallbackExecutable::Call(
    absl::Span<const runtime::Argument> arguments,
    const runtime::CallOptions& options) {
  return CallFor(arguments, {options});
}

Future<FallbackExecutable::Called> FallbackExecutable::CallFor(
    absl::Span<const runtime::Argument> arguments, const PatientCall& call) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return Future<Called>(FallbackClient::Gone());
  const absl::Status checked = Check(arguments, {});
  if (!checked.ok()) return Future<Called>(checked);
  const Attempt attempt = client_->Begin(call);
  Future<Called> values;
  absl::Status primary = WhyNotPrimary(attempt);
  if (primary.ok()) {
    auto called = CallPrimary(arguments, call, attempt);
    if (!called.ok() && !GiveUp(called.status(), attempt)) {
      return Future<Called>(called.status());
    }
    if (called.ok()) values = *std::move(called);
    primary = called.status();
  }
  if (!values.valid()) {
    values = CallElsewhere(arguments, call, attempt, primary);
  }
  return Within(values, attempt.caller.deadline());
}

absl::StatusOr<Future<FallbackExecutable::Called>>
FallbackExecutable::CallPrimary(absl::Span<const runtime::Argument> arguments,
                                const PatientCall& call,
                                const Attempt& attempt) {
  HAWSER_ASSIGN_OR_RETURN(Executables executable,
                          OnPrimary(attempt.epoch, Bounded(call, attempt)));
  HAWSER_ASSIGN_OR_RETURN(auto there,
                          PrimaryArguments(arguments, attempt, call));
  auto promise = std::make_shared<Promise<Called>>();
  std::vector<runtime::Argument> kept(arguments.begin(), arguments.end());
  Within(executable->Call(there, Bounded(call, attempt)), attempt.end)
      .OnReady([self = shared_from_this(), promise, kept = std::move(kept),
                call, attempt](const absl::StatusOr<Called>& value) {
        if (!value.ok()) {
          const Gate::Pass pass = self->gate_->Enter();
          if (pass && self->GiveUp(value.status(), attempt)) {
            // Not here: this may be a thread that must not compile.
            self->client_->worker_.Soon(
                [self, promise, kept, call, attempt, why = value.status()] {
                  self->CallElsewhere(kept, call, attempt, why)
                      .OnReady([promise](const auto& v) { promise->Set(v); });
                });
            return;
          }
        }
        promise->Set(value);  // outside the gate: this may run any code
      });
  return promise->future();
}

Future<FallbackExecutable::Called> FallbackExecutable::CallElsewhere(
    absl::Span<const runtime::Argument> arguments, const PatientCall& call,
    const Attempt& attempt, const absl::Status& primary) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return Future<Called>(FallbackClient::Gone());
  const Future<Called> values = CallSecondary(arguments, call, primary);
  if (!values.ready()) return values;
  const absl::Status here = values.Await().status();
  if (!IsElsewhere(here)) return values;
  if (!client_->MayDiffer(attempt)) return Future<Called>(primary);
  auto promise = std::make_shared<Promise<Called>>();
  std::vector<runtime::Argument> kept(arguments.begin(), arguments.end());
  client_->WhenPrimaryIsBack(
      call, here,
      [self = shared_from_this(), promise,
       kept = std::move(kept)](const absl::StatusOr<PatientCall>& waited) {
        if (!waited.ok()) {
          promise->Set(waited.status());
          return;
        }
        self->CallFor(kept, *waited).OnReady([promise](const auto& values) {
          promise->Set(values);
        });
      });
  return promise->future();
}

Future<FallbackExecutable::Called> FallbackExecutable::CallSecondary(
    absl::Span<const runtime::Argument> arguments,
    const runtime::CallOptions& options, const absl::Status& why) {
  auto executable = OnSecondary();
  if (!executable.ok()) return Future<Called>(executable.status());
  auto there = SecondaryArguments(arguments);
  if (!there.ok()) return Future<Called>(there.status());
  ++client_->secondary_runs_;
  auto promise = std::make_shared<Promise<Called>>();
  (*executable)
      ->Call(*there, WithoutAttempt(options))
      .OnReady([promise, why](const absl::StatusOr<Called>& called) {
        if (!called.ok()) {
          promise->Set(called.status());
        } else {
          promise->Set(Called{called->values, StoodIn(called->ran_on, why)});
        }
      });
  return promise->future();
}

}  // namespace hawser
