#include "core/base/threads/cancel.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/threads/alarm.h"

namespace hawser {
namespace {

// The reason of Until's default.
constexpr char kPassed[] = "the deadline has passed";

}  // namespace

// A token expires with any of its states: its own and those it was made of.
struct CancelToken::State {
  std::atomic<bool> cancelled{false};
  absl::Time deadline = absl::InfiniteFuture();
  absl::Duration allowed;  // from when the token was made to its deadline
  const char* why = kPassed;
  std::shared_ptr<State> parent;
  Mutex mu;
  // The registrations that live; empty once `cancelled`, and then it stays so.
  std::list<std::shared_ptr<Call>> calls ABSL_GUARDED_BY(mu);
};

// A registration of OnExpiry. Waits, then runs, then is over; or over at once.
struct CancelToken::Call {
  explicit Call(CancelToken token,
                std::function<void(const absl::Status&)> expired)
      : token(std::move(token)), expired(std::move(expired)) {}

  // Runs on the alarm's thread.
  void Run() {
    std::function<void(const absl::Status&)> fn;
    {
      MutexLock lock(&mu);
      if (over) return;
      over = running = true;
      runner = std::this_thread::get_id();
      fn = std::move(expired);
    }
    fn(token.Check());
    fn = nullptr;
    MutexLock lock(&mu);
    running = false;
    ended.SignalAll();
  }

  void Forget() {
    std::function<void(const absl::Status&)> dropped;  // outside the lock
    MutexLock lock(&mu);
    over = true;
    dropped.swap(expired);
  }
  // Waits for the end of Run, unless the calling thread is in it.
  void AwaitEnd() {
    MutexLock lock(&mu);
    if (runner == std::this_thread::get_id()) return;
    ended.Wait(&mu,
               [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) { return !running; });
  }

  const CancelToken token;
  // Its place in the list of each state; of the registration alone.
  std::vector<std::pair<std::shared_ptr<State>,
                        std::list<std::shared_ptr<Call>>::iterator>>
      places;
  Alarm::Id at_deadline;
  Mutex mu;
  CondVar ended;
  std::function<void(const absl::Status&)> expired ABSL_GUARDED_BY(mu);
  bool over ABSL_GUARDED_BY(mu) = false;
  bool running ABSL_GUARDED_BY(mu) = false;
  std::thread::id runner ABSL_GUARDED_BY(mu);
};

CancelToken::CancelToken(absl::Time deadline)
    : state_(std::make_shared<State>()) {
  state_->deadline = deadline;
  if (deadline != absl::InfiniteFuture()) {
    state_->allowed = deadline - SteadyNow();
  }
}

CancelToken CancelToken::Until(absl::Time deadline, const char* why) const {
  CancelToken child(deadline);
  child.state_->why = why;
  child.state_->parent = state_;
  return child;
}

void CancelToken::Cancel() const {
  if (state_ == nullptr) return;
  std::list<std::shared_ptr<Call>> calls;
  {
    MutexLock lock(&state_->mu);
    if (state_->cancelled.exchange(true, std::memory_order_relaxed)) return;
    calls.swap(state_->calls);
  }
  for (auto& call : calls) {
    Alarm::OfProcess().Soon([call = std::move(call)] { call->Run(); });
  }
}

absl::Time CancelToken::deadline() const {
  absl::Time earliest = absl::InfiniteFuture();
  for (const State* s = state_.get(); s != nullptr; s = s->parent.get()) {
    earliest = std::min(earliest, s->deadline);
  }
  return earliest;
}

absl::Status CancelToken::Check() const {
  const State* expired = nullptr;
  for (const State* s = state_.get(); s != nullptr; s = s->parent.get()) {
    if (s->cancelled.load(std::memory_order_relaxed) ||
        (s->deadline != absl::InfiniteFuture() && SteadyNow() >= s->deadline)) {
      expired = s;
    }
  }
  if (expired == nullptr) return absl::OkStatus();
  if (expired->cancelled.load(std::memory_order_relaxed)) {
    return Cancelled("cancelled by the caller");
  }
  if (absl::string_view(expired->why) != kPassed) {
    return DeadlineExceeded(expired->why);
  }
  // A token made from what was left on the way has lost some microseconds.
  const absl::Duration allowed = absl::Floor(
      expired->allowed + absl::Microseconds(500), absl::Milliseconds(1));
  if (allowed <= absl::ZeroDuration()) return DeadlineExceeded(kPassed);
  return DeadlineExceeded(kPassed, " after ", absl::FormatDuration(allowed));
}

CancelToken::Registration CancelToken::OnExpiry(
    std::function<void(const absl::Status&)> expired) const {
  if (state_ == nullptr) return Registration();
  const auto call = std::make_shared<Call>(*this, std::move(expired));
  const absl::Time at = deadline();
  bool at_once = false;
  for (std::shared_ptr<State> s = state_; s != nullptr; s = s->parent) {
    MutexLock lock(&s->mu);
    if (s->cancelled) {
      at_once = true;
      break;
    }
    call->places.emplace_back(s, s->calls.insert(s->calls.end(), call));
  }
  if (at_once) {
    call->at_deadline = Alarm::OfProcess().Soon([call] { call->Run(); });
  } else if (at != absl::InfiniteFuture()) {
    call->at_deadline = Alarm::OfProcess().At(at, [call] { call->Run(); });
  }
  return Registration(call);
}

CancelToken::Registration& CancelToken::Registration::operator=(
    Registration&& other) {
  if (this != &other) {
    End();
    call_ = std::move(other.call_);
  }
  return *this;
}

void CancelToken::Registration::End() {
  const std::shared_ptr<Call> call = call_;
  Drop();
  if (call != nullptr) call->AwaitEnd();
}

void CancelToken::Registration::Drop() {
  const std::shared_ptr<Call> call = std::exchange(call_, nullptr);
  if (call == nullptr) return;
  for (auto& [state, place] : call->places) {
    MutexLock lock(&state->mu);
    if (!state->cancelled) state->calls.erase(place);
  }
  Alarm::OfProcess().Cancel(call->at_deadline);
  call->Forget();
}

}  // namespace hawser
