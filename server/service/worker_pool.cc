#include "server/service/worker_pool.h"

#include <utility>

namespace hawser::server {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { Loop(); });
  }
}

void WorkerPool::Stop() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WorkerPool::Run(std::function<void()> work) {
  MutexLock lock(&mu_);
  queue_.push_back(std::move(work));
  changed_.Signal();
}

void WorkerPool::Loop() {
  while (true) {
    std::function<void()> work;
    {
      MutexLock lock(&mu_);
      changed_.Wait(&mu_, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return stopping_ || !queue_.empty();
      });
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace hawser::server
