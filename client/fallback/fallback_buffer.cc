#include "client/fallback/fallback_buffer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {

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
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return Future<Literal>(FallbackClient::Gone());
  const Attempt attempt = client_->Begin(options);
  auto promise = std::make_shared<Promise<Literal>>();
  const Future<Literal> result =
      Within(promise->future(), attempt.caller.deadline());
  if (const runtime::BufferPtr primary = PrimaryIn(attempt.epoch)) {
    Within(primary->Fetch(Bounded(options, attempt)), attempt.end)
        .OnReady([self = shared_from_this(), primary, attempt, options,
                  promise](const absl::StatusOr<Literal>& value) {
          if (value.ok()) self->SetRanOn(primary->ran_on());
          self->OnAnswer(value, attempt, options, promise);
        });
    return result;
  }
  const absl::Status why = client_->Missing(attempt.epoch);
  if (const auto made = client_->recipes_.Made(recipe_)) {
    FetchFrom(made, promise, options, why);
  } else {
    MakeOnSecondary(promise, options, why);
  }
  return result;
}

void FallbackBuffer::OnAnswer(const absl::StatusOr<Literal>& value,
                              Attempt attempt,
                              const runtime::CallOptions& options,
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
      MakeOnSecondary(promise, options, value.status());
      return;
    }
  }
  promise->Set(value);  // outside the gate: this may run the caller's code
}

void FallbackBuffer::MakeOnSecondary(const LiteralPromise& promise,
                                     const runtime::CallOptions& options,
                                     const absl::Status& why) {
  client_->worker_.Soon([self = shared_from_this(), promise, options, why] {
    absl::StatusOr<runtime::BufferPtr> there = FallbackClient::Gone();
    {
      const Gate::Pass pass = self->gate_->Enter();
      if (pass) there = self->client_->recipes_.OnSecondary(self->recipe_);
    }
    if (there.ok()) {
      self->FetchFrom(*there, promise, options, why);
    } else {
      promise->Set(Annotate(there.status(), why.message()));
    }
  });
}

void FallbackBuffer::FetchFrom(const runtime::BufferPtr& secondary,
                               const LiteralPromise& promise,
                               const runtime::CallOptions& options,
                               const absl::Status& why) {
  secondary->Fetch(WithoutAttempt(options))
      .OnReady([self = shared_from_this(), secondary, promise,
                why](const absl::StatusOr<Literal>& value) {
        self->SetRanOn(absl::StrCat(secondary->ran_on(),
                                    " (fallback: ", why.message(), ")"));
        promise->Set(value);
      });
}

void FallbackBuffer::SetRanOn(std::string where) {
  MutexLock lock(&mu_);
  if (ran_on_.empty()) ran_on_ = std::move(where);
}

std::string FallbackBuffer::ran_on() const {
  MutexLock lock(&mu_);
  if (!ran_on_.empty()) return ran_on_;
  return primary_ == nullptr ? "not computed yet" : primary_->ran_on();
}

absl::StatusOr<runtime::BufferPtr> FallbackBuffer::OnPrimary(
    const Attempt& attempt, const runtime::CallOptions& call) {
  if (runtime::BufferPtr primary = PrimaryIn(attempt.epoch)) return primary;
  absl::StatusOr<runtime::BufferPtr> made =
      dataset_.token.empty()
          ? UploadToPrimary(call)
          : client_->datasets_.Find(*client_->primary_, dataset_,
                                    Bounded(call, attempt));
  if (!made.ok()) return made;
  MutexLock lock(&mu_);
  if (attempt.epoch >= epoch_) {
    primary_ = *made;
    epoch_ = attempt.epoch;
    end_ = absl::InfiniteFuture();
  }
  return made;
}

absl::StatusOr<runtime::BufferPtr> FallbackBuffer::UploadToPrimary(
    const runtime::CallOptions& call) {
  std::optional<Literal> value = client_->recipes_.HostValue(recipe_);
  if (!value.has_value()) {
    auto fetch = [&]() -> absl::StatusOr<Literal> {
      HAWSER_ASSIGN_OR_RETURN(auto there,
                              client_->recipes_.OnSecondary(recipe_));
      HAWSER_ASSIGN_OR_RETURN(
          Literal fetched,
          there->Fetch(WithoutAttempt(call)).Await(call.cancel.deadline()));
      SetRanOn(absl::StrCat(there->ran_on(), " (fallback: made again for ",
                            client_->primary_->name(), ")"));
      return fetched;
    };
    auto fetched = fetch();
    if (!fetched.ok()) {
      HAWSER_RETURN_IF_ERROR(call.cancel.Check());
      // The secondary's error, which must not be taken for the primary's.
      return DataLoss("a value cannot be made again: ",
                      fetched.status().message());
    }
    value = *std::move(fetched);
  }
  return client_->primary_->Upload(*value, WithoutAttempt(call));
}

}  // namespace hawser
