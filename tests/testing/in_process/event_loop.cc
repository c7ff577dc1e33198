#include "tests/testing/in_process/event_loop.h"

namespace hawser {

void EventLoop::PostAt(absl::Time when, std::function<void()> task) {
  {
    MutexLock lock(&mu_);
    if (!stopped_) {
      tasks_.emplace(Key{when, posted_++}, std::move(task));
      changed_.SignalAll();
      return;
    }
  }
  task();
}

void EventLoop::Stop() {
  {
    MutexLock lock(&mu_);
    stop_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
}

void EventLoop::Run() {
  for (;;) {
    std::function<void()> task;
    {
      MutexLock lock(&mu_);
      while (!stop_) {
        const absl::Time next = tasks_.empty() ? absl::InfiniteFuture()
                                               : tasks_.begin()->first.first;
        if (next <= absl::Now()) break;
        const uint64_t seen = posted_;
        changed_.WaitUntil(&mu_, next, [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
          return stop_ || posted_ != seen;
        });
      }
      if (tasks_.empty()) {
        stopped_ = true;
        return;
      }
      auto first = tasks_.begin();
      task = std::move(first->second);
      tasks_.erase(first);
    }
    task();
  }
}

}  // namespace hawser
