#include "client/remote/ticker.h"

#include <iterator>
#include <utility>

#include "core/base/clock.h"

namespace hawser {

Ticker::Ticker(std::string who, std::function<void(absl::Time)> on_tick)
    : who_(std::move(who)),
      on_tick_(std::move(on_tick)),
      thread_([this] { Run(); }) {}

void Ticker::Stop() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    stopped_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Ticker::Watch(std::shared_ptr<Watched> watched) {
  if (!watched->limits().any()) return;
  MutexLock lock(&mu_);
  watched_.push_back(std::move(watched));
}

void Ticker::Run() {
  CallbackScope scope;
  for (;;) {
    {
      MutexLock lock(&mu_);
      if (stopped_.WaitUntil(&mu_, SteadyNow() + kTick,
                             [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                               return stop_;
                             })) {
        return;
      }
    }
    const absl::Time now = SteadyNow();
    CheckWatched(now);
    on_tick_(now);
  }
}

void Ticker::CheckWatched(absl::Time now) {
  std::vector<std::shared_ptr<Watched>> all;
  {
    MutexLock lock(&mu_);
    all.swap(watched_);
  }
  std::vector<std::shared_ptr<Watched>> left;
  for (auto& watched : all) {
    if (watched->Over()) continue;
    const absl::Status status = watched->limits().Check(now, who_);
    if (status.ok()) {
      left.push_back(std::move(watched));
    } else {
      watched->Stop(status);
    }
  }
  all.clear();  // what is over may run destructors: not under the lock
  MutexLock lock(&mu_);
  watched_.insert(watched_.end(), std::make_move_iterator(left.begin()),
                  std::make_move_iterator(left.end()));
}

}  // namespace hawser
