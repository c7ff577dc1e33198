#include "client/fallback/fallback_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/fallback/fallback_buffer.h"
#include "client/fallback/fallback_executable.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/base/trace/trace.h"

namespace hawser {
namespace {

constexpr absl::Duration kPingTimeout = absl::Seconds(5);
// A primary that is full may say so at every step; the log does not.
constexpr absl::Duration kQuiet = absl::Seconds(10);
// A token of BeginWaiting has expired for this reason, if it is not the
// caller's wish.
constexpr char kNotBack[] = "the server did not come back in time";

// Translates the end of a wait for the primary. OK: it is back.
absl::Status NotBack(const absl::Status& waited, const absl::Status& why) {
  if (!waited.ok() && waited.message() == kNotBack) {
    return ElsewhereError(Unavailable(why.message(), ": ", kNotBack));
  }
  return Annotate(waited, why.message());
}

}  // namespace

runtime::CallOptions WithoutAttempt(const runtime::CallOptions& call) {
  runtime::CallOptions rest = call;
  rest.attempt_timeout = absl::InfiniteDuration();
  return rest;
}

runtime::CallOptions Bounded(const runtime::CallOptions& call,
                             const Attempt& attempt) {
  runtime::CallOptions bounded = WithoutAttempt(call);
  if (attempt.end != absl::InfiniteFuture()) {
    bounded.cancel = call.cancel.Until(attempt.end);
  }
  return bounded;
}

FallbackClient::FallbackClient(std::shared_ptr<runtime::Client> primary,
                               std::shared_ptr<runtime::Client> secondary,
                               FallbackPolicy policy)
    : primary_(std::move(primary)),
      secondary_(std::move(secondary)),
      policy_(std::move(policy)),
      recipes_({.client = secondary_.get(),
                .open =
                    [this](const DatasetPart& part) {
                      return datasets_.OnSecondary(part);
                    }},
               {policy_.max_recipe_steps, policy_.max_recipe_bytes,
                policy_.max_replay}),
      breaker_({.probe_first = policy_.probe_first,
                .probe_longest = policy_.probe_longest,
                .probe = [this] { return Probe(); },
                .settled = [this] { return datasets_.Settled(); },
                .on_open =
                    [this](const absl::Status& why) {
                      ++switches_;
                      Announce(why);
                    },
                .on_close =
                    [this] {
                      HAWSER_LOG(kInfo) << primary_->name() << " is back";
                    }}) {}

FallbackClient::~FallbackClient() {
  if (IsForked()) return;
  datasets_.GiveUnsent();
  probing_.Cancel();
  breaker_.Abandon();
  gate_->Close();
}

std::string FallbackClient::name() const {
  return absl::StrCat("fallback(", primary_->name(), ", ", secondary_->name(),
                      ")");
}

FallbackStats FallbackClient::stats() const {
  return {.switches = switches_,
          .secondary_runs = secondary_runs_ + recipes_.executions(),
          .recipe_bytes = recipes_.bytes_held()};
}

absl::Status FallbackClient::Gone() {
  return FailedPrecondition("the fallback client is gone");
}

Attempt FallbackClient::BeginTransfer(const runtime::CallOptions& call) const {
  Attempt attempt{.epoch = breaker_.epoch(), .caller = call.cancel};
  if (call.attempt_timeout == absl::InfiniteDuration()) return attempt;
  const absl::Time end = SteadyNow() + call.attempt_timeout;
  if (end < call.cancel.deadline()) attempt.end = end;
  return attempt;
}

Attempt FallbackClient::Begin(const runtime::CallOptions& call) const {
  if (call.attempt_timeout != absl::InfiniteDuration() ||
      policy_.attempt_timeout == absl::InfiniteDuration()) {
    return BeginTransfer(call);
  }
  return BeginTransfer(
      {.cancel = call.cancel, .attempt_timeout = policy_.attempt_timeout});
}

bool FallbackClient::GiveUp(const absl::Status& status,
                            const Attempt& attempt) {
  const absl::Time now = SteadyNow();
  if (now >= attempt.caller.deadline() || !attempt.caller.Check().ok()) {
    return false;
  }
  if (policy_.on_refusal && !absl::IsUnavailable(status)) {
    MutexLock lock(&mu_);
    refusal_ = status;
  }
  const bool lost = attempt.epoch != breaker_.epoch();
  if (!TriggersFallback(policy_, status, now >= attempt.end, lost)) {
    return false;
  }
  if (lost) return true;  // told already
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
      policy_.on_refusal) {
    breaker_.Trip(attempt.epoch, status);
    return true;
  }
  // A full or incapable primary is still there for other work.
  if (absl::IsResourceExhausted(status)) {
    MutexLock lock(&mu_);
    if (now < quiet_until_) return true;
    quiet_until_ = now + kQuiet;
  }
  Announce(status);
  return true;
}

absl::Status FallbackClient::Missing(uint64_t epoch) const {
  if (policy_.on_refusal) {
    MutexLock lock(&mu_);
    if (!refusal_.ok()) return refusal_;
  }
  return Unavailable(primary_->name(), Breaker::IsOpen(epoch)
                                           ? " is away"
                                           : " does not have the value");
}

void FallbackClient::Announce(const absl::Status& why) {
  const TraceSpan span("fallback",
                       absl::StrCat("falls back to ", secondary_->name()));
  HAWSER_LOG(kWarning) << "falling back to " << secondary_->name() << ": "
                       << primary_->name() << ": " << why.ToString();
  if (policy_.on_fallback) policy_.on_fallback(why);
}

absl::Status FallbackClient::Probe() {
  const TraceSpan span("fallback", "probe");
  HAWSER_RETURN_IF_ERROR(
      primary_->Ping({.cancel = probing_.Until(SteadyNow() + kPingTimeout)}));
  return datasets_.Restore(probing_);
}

Place FallbackClient::PrimaryPlace(const Attempt& attempt,
                                   const runtime::CallOptions& call) {
  const runtime::CallOptions bounded = Bounded(call, attempt);
  return {.client = primary_.get(),
          .call = bounded,
          .life = attempt.epoch,
          .open = [this, bounded](const DatasetPart& part) {
            return datasets_.Find(*primary_, part, bounded);
          }};
}

CancelToken FallbackClient::BeginWaiting(PatientCall* call) const {
  if (call->cancel.deadline() != absl::InfiniteFuture()) return call->cancel;
  if (call->wait_end == absl::InfiniteFuture()) {
    call->wait_end = SteadyNow() + policy_.wait_for_primary;
  }
  return call->cancel.Until(call->wait_end, kNotBack);
}

bool FallbackClient::MayDiffer(const Attempt& attempt) const {
  return Breaker::IsOpen(attempt.epoch) || breaker_.epoch() != attempt.epoch;
}

absl::Status FallbackClient::AwaitPrimary(PatientCall* call,
                                          const absl::Status& why) const {
  const auto back = OrExpired(breaker_.Closed(), BeginWaiting(call)).Await();
  return NotBack(back.status(), why);
}

void FallbackClient::WhenPrimaryIsBack(
    PatientCall call, const absl::Status& why,
    std::function<void(const absl::StatusOr<PatientCall>&)> then) {
  const CancelToken patience = BeginWaiting(&call);
  OrExpired(breaker_.Closed(), patience)
      .OnReady([this, gate = gate_, call, why,
                then = std::move(then)](const absl::StatusOr<bool>& back) {
        {
          const Gate::Pass pass = gate->Enter();
          if (pass && back.ok()) {
            worker_.Soon([then, call] { then(call); });
            return;
          }
        }
        then(back.ok() ? Gone() : NotBack(back.status(), why));
      });
}

absl::StatusOr<runtime::Capabilities> FallbackClient::capabilities() {
  const Attempt attempt = Begin({});
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto found = primary_->capabilities();
    if (found.ok() || !GiveUp(found.status(), attempt)) return found;
  }
  return secondary_->capabilities();
}

absl::Status FallbackClient::Ping(const runtime::CallOptions& call) {
  const Attempt attempt = Begin(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    absl::Status status = primary_->Ping(Bounded(call, attempt));
    if (status.ok() || !GiveUp(status, attempt)) return status;
  }
  return secondary_->Ping(WithoutAttempt(call));
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> FallbackClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const runtime::CallOptions& call) {
  auto executable =
      std::make_shared<FallbackExecutable>(this, std::move(module), options);
  HAWSER_RETURN_IF_ERROR(executable->Compile(call));
  return executable;
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::Upload(
    const Literal& value, const runtime::CallOptions& call) {
  const Attempt attempt = BeginTransfer(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto primary = primary_->Upload(value, Bounded(call, attempt));
    if (primary.ok()) {
      return FallbackBuffer::Make(this, *std::move(primary), attempt,
                                  recipes_.OfHostValue(value));
    }
    if (!GiveUp(primary.status(), attempt)) return primary;
  }
  HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr made,
                          secondary_->Upload(value, WithoutAttempt(call)));
  return FallbackBuffer::Make(this, nullptr, attempt,
                              recipes_.OfMade(std::move(made)));
}

std::shared_ptr<FallbackClient> MakeFallbackClient(
    std::shared_ptr<runtime::Client> primary,
    std::shared_ptr<runtime::Client> secondary, FallbackPolicy policy) {
  return std::make_shared<FallbackClient>(
      std::move(primary), std::move(secondary), std::move(policy));
}

}  // namespace hawser
