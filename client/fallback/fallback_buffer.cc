#include "client/fallback/fallback_buffer.h"

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

absl::Status ClientGone() {
  return FailedPrecondition("the buffer's client is gone");
}

}  // namespace

// One try at the primary. Whoever comes first, its answer or the attempt's
// end, takes the promise.
struct FallbackBuffer::Attempt {
  runtime::CallOptions options;
  uint64_t epoch = 0;
  Alarm::Id timeout;
  Mutex mu;
  bool decided ABSL_GUARDED_BY(mu) = false;
  Promise<Literal> promise ABSL_GUARDED_BY(mu);

  bool Take(Promise<Literal>* out) {
    MutexLock lock(&mu);
    if (decided) return false;
    decided = true;
    *out = std::move(promise);
    return true;
  }
};

runtime::BufferPtr FallbackBuffer::primary(uint64_t epoch) const {
  MutexLock lock(&mu_);
  return epoch == epoch_ && !Breaker::IsOpen(epoch) ? primary_ : nullptr;
}

void FallbackBuffer::ForgetPrimary() {
  MutexLock lock(&mu_);
  primary_ = nullptr;
}

Future<Literal> FallbackBuffer::Fetch(const runtime::CallOptions& options) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) return Future<Literal>(ClientGone());
  const uint64_t epoch = client_->breaker_.epoch();
  const runtime::BufferPtr primary = this->primary(epoch);
  Promise<Literal> promise;
  Future<Literal> result = promise.future();
  if (primary == nullptr) {
    FetchFromSecondary(std::move(promise), options,
                       Unavailable(client_->primary_->name(), " is away"));
    return result;
  }
  auto attempt = std::make_shared<Attempt>();
  attempt->options = options;
  attempt->epoch = epoch;
  {
    MutexLock lock(&attempt->mu);
    attempt->promise = std::move(promise);
  }
  auto self = shared_from_this();
  const absl::Time end = client_->AttemptDeadline(options);
  const bool timed = end != absl::InfiniteFuture();
  if (timed) {
    attempt->timeout = client_->timeouts_.At(end, [self, attempt] {
      self->Decide(*attempt, DeadlineExceeded("no answer within the time of "
                                              "one attempt"));
    });
  }
  primary->Fetch(options).OnReady([self, attempt, timed](const auto& value) {
    if (timed) {
      const Gate::Pass pass = self->gate_->Enter();
      if (pass) self->client_->timeouts_.Cancel(attempt->timeout);
    }
    self->Decide(*attempt, value);
  });
  return result;
}

void FallbackBuffer::Decide(Attempt& attempt,
                            const absl::StatusOr<Literal>& value) {
  Promise<Literal> promise;
  if (!attempt.Take(&promise)) return;
  const Gate::Pass pass = gate_->Enter();
  if (value.ok() || !pass ||
      !client_->GiveUp(value.status(), attempt.epoch, attempt.options)) {
    promise.Set(value);
    return;
  }
  FetchFromSecondary(std::move(promise), attempt.options, value.status());
}

// Called inside the gate.
void FallbackBuffer::FetchFromSecondary(Promise<Literal> promise,
                                        const runtime::CallOptions& options,
                                        const absl::Status& why) {
  // std::function wants copyable captures.
  auto shared = std::make_shared<Promise<Literal>>(std::move(promise));
  client_->worker_.Soon([self = shared_from_this(), shared, options, why] {
    self->UseSecondary(shared, options, why);
  });
}

void FallbackBuffer::UseSecondary(
    const std::shared_ptr<Promise<Literal>>& promise,
    const runtime::CallOptions& options, const absl::Status& why) {
  const Gate::Pass pass = gate_->Enter();
  if (!pass) {
    promise->Set(ClientGone());
    return;
  }
  auto buffer = client_->recipes_.OnSecondary(recipe_);
  if (!buffer.ok()) {
    promise->Set(Annotate(buffer.status(), why.message()));
    return;
  }
  {
    MutexLock lock(&mu_);
    secondary_ = *buffer;
    fallback_reason_ = absl::StrCat(client_->primary_->name(), " ",
                                    absl::StatusCodeToString(why.code()));
  }
  (*buffer)->Fetch(options).OnReady(
      [promise](const auto& value) { promise->Set(value); });
}

std::string FallbackBuffer::ran_on() const {
  MutexLock lock(&mu_);
  if (secondary_ != nullptr) {
    return absl::StrCat(secondary_->ran_on(), " (fallback: ",
                        fallback_reason_, ")");
  }
  return primary_ == nullptr ? "not computed yet" : primary_->ran_on();
}

absl::StatusOr<runtime::Argument> FallbackBuffer::OnPrimary(
    uint64_t epoch, const runtime::CallOptions& call) {
  if (runtime::BufferPtr primary = this->primary(epoch)) return {primary};
  if (!dataset_.token.empty()) {
    return client_->primary_->DatasetArray(dataset_.token, dataset_.array,
                                           call);
  }
  HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr buffer,
                          client_->recipes_.OnSecondary(recipe_));
  HAWSER_ASSIGN_OR_RETURN(Literal value,
                          buffer->Fetch(call).Await(call.cancel.deadline()));
  return {value};
}

}  // namespace hawser
