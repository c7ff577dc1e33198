#include "server/service/queue/device_queue.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"

namespace hawser::server {

DeviceQueue::DeviceQueue(Options options)
    : now_(std::move(options.now)),
      slots_({.running = options.running,
              .waiting = options.waiting,
              .waiting_of_tenant = options.waiting_of_tenant}),
      moved_(now_()) {}

DeviceQueue::~DeviceQueue() = default;

DeviceQueue::TurnPtr DeviceQueue::MakeTurn(const Flow& flow, Work work) {
  return std::make_shared<Turn>(this, flow, std::move(work));
}

std::shared_ptr<runtime::Sharing> DeviceQueue::SharingOf(
    std::shared_ptr<DeviceQueue> queue, TurnPtr turn) {
  struct Both {
    std::shared_ptr<DeviceQueue> queue;
    TurnPtr turn;
  };
  const auto both =
      std::make_shared<const Both>(Both{std::move(queue), std::move(turn)});
  return {both, both->turn.get()};
}

absl::Status DeviceQueue::Enter(const TurnPtr& turn) {
  const CancelToken cancel = turn->work_.cancel;
  turn->expiry_ = cancel.OnExpiry(
      [weak = turn->weak_from_this()](const absl::Status& expired) {
        if (const TurnPtr turn = weak.lock()) turn->Expire(expired);
      });
  absl::Status entered;
  {
    MutexLock lock(&mu_);
    entered = slots_.Enter(turn, now_());
  }
  if (!entered.ok()) {
    turn->LetGo();
    return entered;
  }
  StartWhatMay();
  // It may have expired before it was in line.
  if (absl::Status expired = cancel.Check(); !expired.ok()) {
    turn->Expire(expired);
  }
  return absl::OkStatus();
}

void DeviceQueue::Leave(const TurnPtr& turn) {
  {
    MutexLock lock(&mu_);
    const absl::Time now = now_();
    if (!slots_.Leave(turn, now)) return;
    moved_ = now;
    resumed_.SignalAll();
  }
  StartWhatMay();
}

void DeviceQueue::StartWhatMay(bool blocks) {
  mu_.Lock();
  const auto [here, is_outermost] =
      starting_.insert(std::this_thread::get_id());
  if (!is_outermost && !blocks) {
    mu_.Unlock();
    return;
  }
  absl::Time now = now_();
  while (const auto next = slots_.Next(now)) {
    const TurnPtr turn = std::static_pointer_cast<Turn>(next);
    turn->earliest_end_ = absl::ToUnixNanos(now + TurnSlots::kShortSlice);
    moved_ = now;
    // One that was paused goes on by its own thread.
    resumed_.SignalAll();
    mu_.Unlock();
    if (turn->work_.run != nullptr) {
      const std::function<void()> run = std::move(turn->work_.run);
      turn->LetGo();
      run();
    }
    mu_.Lock();
    now = now_();
  }
  if (is_outermost) starting_.erase(std::this_thread::get_id());
  mu_.Unlock();
}

void DeviceQueue::Turn::Expire(const absl::Status& status) {
  {
    MutexLock lock(&queue_->mu_);
    if (!queue_->slots_.Withdraw(shared_from_this())) return;
  }
  const auto give_up = std::move(work_.give_up);
  LetGo();
  give_up(Annotate(status, "while it waited in line for the device"));
}

// The work's functions may hold what holds the turn: they are released.
void DeviceQueue::Turn::LetGo() {
  expiry_.End();
  work_.run = nullptr;
  work_.give_up = nullptr;
}

bool DeviceQueue::Turn::others_wait() const {
  const absl::Time now = queue_->now_();
  if (absl::ToUnixNanos(now) < earliest_end_) return false;
  MutexLock lock(&queue_->mu_);
  return now - since() >= queue_->slots_.Slice(*this);
}

void DeviceQueue::Pause(const TurnPtr& turn) {
  {
    MutexLock lock(&mu_);
    const absl::Time now = now_();
    if (!slots_.Pause(turn, now)) return;
    moved_ = now;
  }
  StartWhatMay(/*blocks=*/true);
  AwaitTurn(turn);
}

void DeviceQueue::AwaitTurn(const TurnPtr& turn) {
  const CancelToken& cancel = turn->work_.cancel;
  const CancelToken::Registration expiry =
      cancel.OnExpiry([this](const absl::Status&) {
        MutexLock lock(&mu_);
        resumed_.SignalAll();
      });
  MutexLock lock(&mu_);
  resumed_.Wait(&mu_, [&] {
    return turn->state() != TurnSlots::State::kPaused || !cancel.Check().ok();
  });
  // If it has expired, it ends by itself at its next look; until then it runs
  // beside the others.
  slots_.Resume(turn, now_());
}

void DeviceQueue::EndLongerThan(absl::Duration limit) {
  std::vector<TurnPtr> ended;
  {
    MutexLock lock(&mu_);
    slots_.Charge(now_());
    slots_.ForEachRunning([&](const TurnSlots::TurnPtr& running) {
      const TurnPtr turn = std::static_pointer_cast<Turn>(running);
      if (turn->had() <= limit || turn->over_limit_) return;
      turn->ended_text_ = absl::StrCat(
          "the execution has had ", absl::FormatDuration(turn->had()),
          " of the device, more than one may (--run_limit=",
          absl::FormatDuration(limit), ")");
      turn->over_limit_ = true;
      ended.push_back(turn);
    });
  }
  for (const TurnPtr& turn : ended) turn->work_.cancel.Cancel();
}

size_t DeviceQueue::waiting() const {
  MutexLock lock(&mu_);
  return slots_.waiting();
}

DeviceQueue::Line DeviceQueue::Look(absl::string_view tenant) const {
  MutexLock lock(&mu_);
  const absl::Time now = now_();
  absl::Time oldest = now, oldest_of_tenant = now;
  Line line;
  slots_.ForEachInLine([&](const TurnSlots::TurnPtr& turn) {
    ++line.waiting;
    oldest = std::min(oldest, turn->since());
    if (turn->tenant() != tenant) return;
    ++line.waiting_of_tenant;
    oldest_of_tenant = std::min(oldest_of_tenant, turn->since());
  });
  slots_.ForEachInLine([&](const TurnSlots::TurnPtr& turn) {
    if (turn->since() < oldest_of_tenant) ++line.before_tenant;
  });
  line.oldest = now - oldest;
  line.oldest_of_tenant = now - oldest_of_tenant;
  line.quiet = now - moved_;
  return line;
}

std::string DeviceQueue::WhatRuns() const {
  MutexLock lock(&mu_);
  const absl::Time now = now_();
  std::vector<std::string> texts;
  slots_.ForEachRunning([&](const TurnSlots::TurnPtr& turn) {
    texts.push_back(absl::StrCat("tenant ", turn->tenant(), " for ",
                                 absl::FormatDuration(now - turn->since())));
  });
  std::sort(texts.begin(), texts.end());
  return absl::StrCat(texts.size(), " run: ", absl::StrJoin(texts, ", "));
}

}  // namespace hawser::server
