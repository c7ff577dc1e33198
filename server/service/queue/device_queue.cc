#include "server/service/queue/device_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Loops that make way at a time: each keeps a thread of the device's waiting.
constexpr int kMostPaused = 64;
// An estimate counts for at most this until the work is measured.
constexpr double kMostThought = 1;  // seconds

// The estimate may be any number.
double Thought(double seconds) {
  return seconds >= 0 && seconds < kMostThought ? seconds : kMostThought;
}

}  // namespace

DeviceQueue::DeviceQueue(Options options) : options_(std::move(options)) {}

DeviceQueue::~DeviceQueue() = default;

void DeviceQueue::Turn::Expire(const absl::Status& status) {
  if (!queue_->Withdraw(shared_from_this())) return;
  const auto give_up = std::move(work_.give_up);
  LetGo();
  give_up(status);
}

DeviceQueue::TurnPtr DeviceQueue::MakeTurn(const Flow& flow, Work work) {
  return std::make_shared<Turn>(this, flow, std::move(work));
}

absl::Status DeviceQueue::Full(const Turn& turn) const {
  const size_t waiting = waiting_;
  const bool all = waiting >= options_.waiting;
  std::string when = "how long they take is not known";
  if (waiting_endless_ == 0) {
    const double ms = std::ceil(waiting_seconds_ / options_.running * 1e3);
    when = absl::StrCat("try again in ", std::max(1.0, ms), " ms");
  }
  if (all) {
    return ResourceExhausted("the device has ", waiting,
                             " executions waiting, the most there may be; ",
                             when);
  }
  return ResourceExhausted(
      "tenant ", turn.tenant_, " has ", line_.waiting(turn.tenant_),
      " executions waiting, the most one tenant may; ", when);
}

void DeviceQueue::Push(const TurnPtr& turn) {
  turn->state_ = Turn::State::kWaiting;
  line_.Push(turn->tenant_, turn->flow_, turn, /*first=*/turn->paused_);
  ++waiting_;
  if (std::isfinite(turn->work_.seconds)) {
    waiting_seconds_ += turn->work_.seconds;
  } else {
    ++waiting_endless_;
  }
}

void DeviceQueue::CountOut(const Turn& turn) {
  --waiting_;
  if (std::isfinite(turn.work_.seconds)) {
    waiting_seconds_ = std::max(0.0, waiting_seconds_ - turn.work_.seconds);
  } else {
    --waiting_endless_;
  }
}

absl::Status DeviceQueue::Enter(const TurnPtr& turn) {
  const CancelToken cancel = turn->work_.cancel;
  turn->expiry_ = cancel.OnExpiry(
      [weak = turn->weak_from_this()](const absl::Status& expired) {
        if (const TurnPtr turn = weak.lock()) turn->Expire(expired);
      });
  absl::Status full;
  {
    MutexLock lock(&mu_);
    if (waiting_ >= options_.waiting ||
        line_.waiting(turn->tenant_) >= options_.waiting_of_tenant) {
      full = Full(*turn);
    } else {
      Push(turn);
    }
  }
  if (!full.ok()) {
    turn->LetGo();
    return full;
  }
  StartWhatMay();
  // It may have expired before it was in line.
  if (absl::Status expired = cancel.Check(); !expired.ok()) {
    turn->Expire(expired);
  }
  return absl::OkStatus();
}

void DeviceQueue::Charge(Turn& turn) {
  const absl::Time now = options_.now();
  const absl::Duration ran = now - turn.charged_to_;
  if (ran <= absl::ZeroDuration()) return;  // less than estimated
  turn.charged_to_ = now;
  turn.had_ += ran;
  line_.Charge(turn.tenant_, turn.flow_, absl::ToDoubleSeconds(ran));
}

void DeviceQueue::ChargeRunning() {
  for (const TurnPtr& turn : running_) Charge(*turn);
}

void DeviceQueue::StopRunning(const TurnPtr& turn) {
  const absl::Duration ran = options_.now() - turn->charged_to_;
  turn->had_ += ran;
  // Negative where it took less than estimated.
  line_.Charge(turn->tenant_, turn->flow_, absl::ToDoubleSeconds(ran));
  --line_.Running(turn->tenant_);
  running_.erase(turn);
}

void DeviceQueue::Leave(const TurnPtr& turn) {
  {
    MutexLock lock(&mu_);
    if (turn->state_ != Turn::State::kRunning) return;
    turn->state_ = Turn::State::kOver;
    StopRunning(turn);
  }
  StartWhatMay();
}

DeviceQueue::TurnPtr DeviceQueue::TakeNext() {
  const int running = static_cast<int>(running_.size());
  if (waiting_ == 0 || running > options_.running) return nullptr;
  ChargeRunning();
  TurnPtr turn;
  // The slot beyond the others is for tenants of which nothing runs.
  if (!line_.Pop(/*idle_only=*/running == options_.running, &turn)) {
    return nullptr;
  }
  CountOut(*turn);
  turn->state_ = Turn::State::kRunning;
  const absl::Time now = options_.now();
  // The estimate counts at once, so that two of one flow do not both start for
  // having had nothing yet.
  const double thought = turn->paused_ ? 0 : Thought(turn->work_.seconds);
  turn->charged_to_ = now + absl::Seconds(thought);
  turn->had_ += absl::Seconds(thought);
  line_.Charge(turn->tenant_, turn->flow_, thought);
  turn->slice_end_ = absl::ToUnixNanos(now + kSlice);
  ++line_.Running(turn->tenant_);
  running_.insert(turn);
  line_.Prune();
  return turn;
}

// Work may be over before it returns, and leave: a loop, not a recursion.
void DeviceQueue::StartWhatMay() {
  mu_.Lock();
  if (starting_) {
    mu_.Unlock();
    return;
  }
  starting_ = true;
  while (TurnPtr turn = TakeNext()) {
    if (std::exchange(turn->paused_, false)) {
      --paused_;
      resumed_.SignalAll();
      continue;
    }
    mu_.Unlock();
    {
      const std::function<void()> run = std::move(turn->work_.run);
      turn->LetGo();
      run();
    }
    mu_.Lock();
  }
  if (waiting_ == 0 && running_.empty()) {
    line_.Clear();
    waiting_seconds_ = 0;
  }
  starting_ = false;
  mu_.Unlock();
}

bool DeviceQueue::Withdraw(const TurnPtr& turn) {
  MutexLock lock(&mu_);
  // The thread of a paused turn waits for it itself, and goes on from there.
  if (turn->state_ != Turn::State::kWaiting || turn->paused_) return false;
  if (!line_.Erase(turn->tenant_, turn->flow_, turn)) return false;
  turn->state_ = Turn::State::kOver;
  CountOut(*turn);
  return true;
}

// The work's functions may hold what holds the turn: they are released.
void DeviceQueue::Turn::LetGo() {
  expiry_.End();
  work_.run = nullptr;
  work_.give_up = nullptr;
}

bool DeviceQueue::Turn::others_wait() const {
  return queue_->waiting_ > 0 &&
         absl::ToUnixNanos(queue_->options_.now()) >= slice_end_;
}

void DeviceQueue::Pause(const TurnPtr& turn) {
  {
    MutexLock lock(&mu_);
    if (turn->state_ != Turn::State::kRunning || paused_ >= kMostPaused) return;
    ++paused_;
    turn->paused_ = true;
    StopRunning(turn);
    Push(turn);
  }
  StartWhatMay();
  const CancelToken::Registration expiry =
      turn->work_.cancel.OnExpiry([this](const absl::Status&) {
        MutexLock lock(&mu_);
        resumed_.SignalAll();
      });
  MutexLock lock(&mu_);
  resumed_.Wait(&mu_, [&turn] {
    return turn->state_ == Turn::State::kRunning ||
           !turn->work_.cancel.Check().ok();
  });
  if (turn->state_ == Turn::State::kRunning) return;
  // It ends by itself at its next look; until then it runs beside the others.
  line_.Erase(turn->tenant_, turn->flow_, turn);
  CountOut(*turn);
  --paused_;
  turn->paused_ = false;
  turn->state_ = Turn::State::kRunning;
  turn->charged_to_ = options_.now();
  ++line_.Running(turn->tenant_);
  running_.insert(turn);
}

void DeviceQueue::EndLongerThan(absl::Duration limit) {
  std::vector<TurnPtr> ended;
  {
    MutexLock lock(&mu_);
    ChargeRunning();
    for (const TurnPtr& turn : running_) {
      if (turn->had_ <= limit || turn->over_limit_) continue;
      turn->ended_text_ = absl::StrCat(
          "the execution has had ", absl::FormatDuration(turn->had_),
          " of the device, more than one may (--run_limit=",
          absl::FormatDuration(limit), ")");
      turn->over_limit_ = true;
      ended.push_back(turn);
    }
  }
  for (const TurnPtr& turn : ended) turn->work_.cancel.Cancel();
}

size_t DeviceQueue::waiting() const { return waiting_; }

}  // namespace hawser::server
