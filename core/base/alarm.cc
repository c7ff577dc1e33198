#include "core/base/alarm.h"

namespace hawser {

Alarm::~Alarm() {
  std::thread thread;
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.SignalAll();
  }
  if (thread.joinable()) thread.join();
}

Alarm::Id Alarm::At(absl::Time when, std::function<void()> fn) {
  MutexLock lock(&mu_);
  const Id id(when, next_++);
  const bool first = waiting_.empty() || id < waiting_.begin()->first;
  waiting_.emplace(id, std::move(fn));
  if (!thread_.joinable() && !stopping_) {
    thread_ = std::thread([this] { Run(); });
  } else if (first) {
    changed_.SignalAll();
  }
  return id;
}

bool Alarm::Cancel(const Id& id) {
  std::function<void()> dropped;  // destroyed outside the lock
  MutexLock lock(&mu_);
  auto at = waiting_.find(id);
  if (at == waiting_.end()) return false;
  dropped = std::move(at->second);
  waiting_.erase(at);
  return true;
}

void Alarm::Run() {
  while (true) {
    std::function<void()> due;
    {
      MutexLock lock(&mu_);
      while (!stopping_ &&
             (waiting_.empty() ||
              waiting_.begin()->first.first > absl::Now())) {
        const Id next = waiting_.empty() ? Id(absl::InfiniteFuture(), 0)
                                         : waiting_.begin()->first;
        changed_.WaitUntil(&mu_, next.first, [&] {
          return stopping_ ||
                 (!waiting_.empty() && waiting_.begin()->first != next);
        });
      }
      if (stopping_) return;
      due = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
    }
    due();
  }
}

}  // namespace hawser
