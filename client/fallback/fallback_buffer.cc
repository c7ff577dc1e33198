#include "client/fallback/fallback_buffer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/recipes/place.h"
#include "client/recipes/replay.h"
#include "core/base/status.h"

namespace hawser {

std::shared_ptr<FallbackBuffer> FallbackBuffer::Make(FallbackClient* client,
                                                     runtime::BufferPtr primary,
                                                     const Attempt& attempt,
                                                     RecipePtr recipe) {
  auto buffer = std::make_shared<FallbackBuffer>(client, std::move(primary),
                                                 attempt, std::move(recipe));
  client->recipes_.SetHolder(buffer->recipe_, buffer);
  return buffer;
}

void FallbackBuffer::Remade(uint64_t life, const runtime::BufferPtr& value) {
  runtime::BufferPtr stale;  // released outside the lock
  MutexLock lock(&mu_);
  if (life < epoch_) return;
  stale = std::exchange(primary_, value);
  epoch_ = life;
  end_ = absl::InfiniteFuture();
}

runtime::BufferPtr FallbackBuffer::PrimaryIn(uint64_t epoch) {
  runtime::BufferPtr stale;  // released outside the lock
  MutexLock lock(&mu_);
  if (epoch == epoch_) return primary_;
  if (epoch > epoch_) stale = std::move(primary_);
  return nullptr;
}

void FallbackBuffer::ForgetPrimary() {
  runtime::BufferPtr forgotten;
  MutexLock lock(&mu_);
  forgotten = std::move(primary_);
}

Future<Literal> FallbackBuffer::Fetch(const runtime::CallOptions& options) {
  return FetchFor({options});
}

Future<Literal> FallbackBuffer::FetchFor(const PatientCall& call) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return Future<Literal>(FallbackClient::Gone());
  const Attempt attempt = client_->Begin(call);
  auto promise = std::make_shared<Promise<Literal>>();
  const Future<Literal> result =
      Within(promise->future(), attempt.caller.deadline());
  if (const runtime::BufferPtr primary = PrimaryIn(attempt.epoch)) {
    Within(primary->Fetch(Bounded(call, attempt)), attempt.end)
        .OnReady([self = shared_from_this(), primary, attempt, call,
                  promise](const absl::StatusOr<Literal>& value) {
          if (value.ok()) self->SetRanOn(primary->ran_on());
          self->OnAnswer(value, attempt, call, promise);
        });
    return result;
  }
  const absl::Status why = client_->Missing(attempt.epoch);
  if (const auto made = client_->recipes_.Made(recipe_)) {
    FetchFrom(made, promise, call, why);
  } else {
    MakeOnSecondary(promise, call, why, /*may_replay=*/true);
  }
  return result;
}

Future<bool> FallbackBuffer::Ready(const runtime::CallOptions& options) {
  const PatientCall call{options};
  std::optional<Attempt> attempt;
  runtime::BufferPtr primary;
  {
    const Gate::Pass pass = gate_->Enter();
    if (pass) {
      attempt = client_->Begin(call);
      primary = PrimaryIn(attempt->epoch);
    }
  }
  // A value that is made here lies here: it is fetched without a copy.
  if (primary == nullptr) return Buffer::Ready(options);
  auto promise = std::make_shared<Promise<bool>>();
  auto made = std::make_shared<Promise<Literal>>();
  made->future().OnReady([promise](const absl::StatusOr<Literal>& value) {
    promise->Set(value.ok() ? absl::StatusOr<bool>(true) : value.status());
  });
  Within(primary->Ready(Bounded(call, *attempt)), attempt->end)
      .OnReady([self = shared_from_this(), primary, attempt, call, made,
                promise](const absl::StatusOr<bool>& ready) {
        if (ready.ok()) {
          self->SetRanOn(primary->ran_on());
          promise->Set(true);
        } else {
          self->OnAnswer(ready.status(), *attempt, call, made);
        }
      });
  return Within(promise->future(), attempt->caller.deadline());
}

void FallbackBuffer::OnAnswer(const absl::StatusOr<Literal>& value,
                              Attempt attempt, const PatientCall& call,
                              const LiteralPromise& promise) {
  if (!value.ok()) {
    {
      MutexLock lock(&mu_);
      attempt.end = std::min(attempt.end, end_);
    }
    const Gate::Pass pass = gate_->Enter();
    if (pass && client_->GiveUp(value.status(), attempt)) {
      // The next execution that needs it sends the good value instead.
      ForgetPrimary();
      MakeOnSecondary(promise, call, value.status(),
                      client_->MayDiffer(attempt));
      return;
    }
  }
  promise->Set(value);  // outside the gate: this may run the caller's code
}

void FallbackBuffer::MakeOnSecondary(const LiteralPromise& promise,
                                     const PatientCall& call,
                                     const absl::Status& why, bool may_replay) {
  client_->worker_.Soon(
      [self = shared_from_this(), promise, call, why, may_replay] {
        absl::StatusOr<runtime::BufferPtr> there = FallbackClient::Gone();
        {
          const Gate::Pass pass = self->gate_->Enter();
          if (pass) there = self->client_->recipes_.AtHome(self->recipe_);
        }
        if (there.ok()) {
          self->FetchFrom(*there, promise, call, why);
        } else if (IsElsewhere(there.status()) && may_replay) {
          self->FetchWhenBack(promise, call, there.status());
        } else if (IsElsewhere(there.status())) {
          promise->Set(why);
        } else {
          promise->Set(Annotate(there.status(), why.message()));
        }
      });
}

void FallbackBuffer::FetchWhenBack(const LiteralPromise& promise,
                                   const PatientCall& call,
                                   const absl::Status& why) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) {
    promise->Set(FallbackClient::Gone());
    return;
  }
  client_->WhenPrimaryIsBack(call, why,
                             [self = shared_from_this(), promise](
                                 const absl::StatusOr<PatientCall>& waited) {
                               if (waited.ok()) {
                                 self->FetchRemade(promise, *waited);
                               } else {
                                 promise->Set(waited.status());
                               }
                             });
}

void FallbackBuffer::FetchRemade(const LiteralPromise& promise,
                                 const PatientCall& call) {
  absl::StatusOr<runtime::BufferPtr> there = FallbackClient::Gone();
  bool again = false;
  {
    const Gate::Pass pass = gate_->Enter();
    if (pass) {
      const Attempt attempt = client_->Begin(call);
      there = OnPrimary(attempt, call);
      again = !there.ok() && client_->GiveUp(there.status(), attempt) &&
              client_->MayDiffer(attempt);
    }
  }
  if (again) return FetchWhenBack(promise, call, there.status());
  if (!there.ok()) {
    promise->Set(there.status());
    return;
  }
  FetchFor(call).OnReady(
      [promise](const absl::StatusOr<Literal>& value) { promise->Set(value); });
}

void FallbackBuffer::FetchFrom(const runtime::BufferPtr& secondary,
                               const LiteralPromise& promise,
                               const PatientCall& call,
                               const absl::Status& why) {
  secondary->Fetch(WithoutAttempt(call))
      .OnReady([self = shared_from_this(), secondary, promise,
                why](const absl::StatusOr<Literal>& value) {
        self->SetRanOn(StoodIn(secondary->ran_on(), why));
        promise->Set(value);
      });
}

void FallbackBuffer::SetRanOn(const runtime::RanOn& ran_on) {
  MutexLock lock(&mu_);
  if (ran_on_.where.empty()) ran_on_ = ran_on;
}

runtime::RanOn FallbackBuffer::ran_on() const {
  MutexLock lock(&mu_);
  if (!ran_on_.where.empty()) return ran_on_;
  if (primary_ == nullptr) return {"not computed yet"};
  return primary_->ran_on();
}

absl::StatusOr<runtime::BufferPtr> FallbackBuffer::OnPrimary(
    const Attempt& attempt, const runtime::CallOptions& call) {
  if (runtime::BufferPtr primary = PrimaryIn(attempt.epoch)) return primary;
  if (Breaker::IsOpen(attempt.epoch)) return client_->Missing(attempt.epoch);
  HAWSER_ASSIGN_OR_RETURN(
      runtime::BufferPtr made,
      dataset_.token.empty()
          ? RemakeOnPrimary(attempt, call)
          : client_->datasets_.Find(*client_->primary_, dataset_,
                                    Bounded(call, attempt)));
  Remade(attempt.epoch, made);
  return made;
}

absl::StatusOr<runtime::BufferPtr> FallbackBuffer::RemakeOnPrimary(
    const Attempt& attempt, const runtime::CallOptions& call) {
  const absl::StatusOr<Literal> value = ValueFromHome(call);
  if (IsElsewhere(value.status())) {
    Replay replay(&client_->recipes_, client_->PrimaryPlace(attempt, call));
    HAWSER_ASSIGN_OR_RETURN(const auto values, replay.Run({recipe_}));
    return values[0];
  }
  if (!value.ok()) {
    HAWSER_RETURN_IF_ERROR(call.cancel.Check());
    // The secondary's error, which must not be taken for the primary's.
    return DataLoss("a value cannot be made again: ", value.status().message());
  }
  return client_->primary_->Upload(*value, WithoutAttempt(call));
}

absl::StatusOr<Literal> FallbackBuffer::ValueFromHome(
    const runtime::CallOptions& call) {
  std::optional<Literal> value = client_->recipes_.HostValue(recipe_);
  if (value.has_value()) return *std::move(value);
  HAWSER_ASSIGN_OR_RETURN(const auto there, client_->recipes_.AtHome(recipe_));
  HAWSER_ASSIGN_OR_RETURN(
      Literal fetched,
      there->Fetch(WithoutAttempt(call)).Await(call.cancel.deadline()));
  SetRanOn(
      StoodIn(there->ran_on(), absl::UnavailableError("the primary lost it")));
  return fetched;
}

}  // namespace hawser
