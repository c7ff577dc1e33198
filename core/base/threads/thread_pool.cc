#include "core/base/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "core/base/process/forked.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"

namespace hawser {
namespace {

thread_local const ThreadPool* current_pool = nullptr;

// Waking a thread takes up to 200 us in a virtual machine, about as long as a
// loop that is just worth a second one.
constexpr std::chrono::microseconds kPolled{100};

// One loop in progress. Helpers hold it by shared_ptr, since one may wake when
// the loop is long over; it then finds no block and never touches `fn`.
struct BlockLoop {
  BlockLoop(int64_t blocks, const CancelToken& cancel,
            absl::FunctionRef<absl::Status(int64_t)> fn)
      : blocks(blocks), cancel(cancel), fn(fn) {}

  // Runs the blocks that are left; a helper on a thread of `pool` makes way for
  // tasks.
  void TakeBlocks(const ThreadPool* pool) {
    while (pool == nullptr || !pool->tasks_wait()) {
      const int64_t i = next.fetch_add(1);
      if (i >= blocks) return;
      if (!failed.load(std::memory_order_relaxed)) {
        absl::Status status = cancel.Check();
        if (status.ok()) status = fn(i);
        if (!status.ok()) Fail(std::move(status));
      }
      if (done.fetch_add(1) + 1 == blocks) {
        MutexLock lock(&mu);
        finished.SignalAll();
      }
    }
  }
  void Fail(absl::Status status) {
    MutexLock lock(&mu);
    if (!failed.exchange(true)) error = std::move(status);
  }

  const int64_t blocks;
  const CancelToken cancel;
  const absl::FunctionRef<absl::Status(int64_t)> fn;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  std::atomic<bool> failed{false};
  Mutex mu;
  CondVar finished;
  absl::Status error ABSL_GUARDED_BY(mu);
};

}  // namespace

ThreadPool::ThreadPool(int threads, int extra_tasks)
    : size_(std::max(threads, 1)), extra_tasks_(extra_tasks) {
  ForbidForks();
  LibraryCall::WatchTheEnd();
  MutexLock lock(&mu_);
  for (int i = 0; i < size_ + extra_tasks_; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

ThreadPool& ThreadPool::OfProcess() {
  static ThreadPool* const pool = new ThreadPool(CpuThreads(), 1);
  return *pool;
}

ThreadPool::Blocking::Blocking(ThreadPool* pool)
    : pool_(pool != nullptr && pool->IsOwnThread() ? pool : nullptr) {
  if (pool_ == nullptr) return;
  MutexLock lock(&pool_->mu_);
  ++pool_->blocked_;
  const size_t wanted = pool_->size_ + pool_->extra_tasks_ + pool_->blocked_;
  if (!pool_->stopped_ && pool_->threads_.size() < wanted) {
    pool_->threads_.emplace_back([pool] { pool->Work(); });
  }
  pool_->WakeOne();
}

ThreadPool::Blocking::~Blocking() {
  if (pool_ == nullptr) return;
  MutexLock lock(&pool_->mu_);
  --pool_->blocked_;
  pool_->WakeOne();
}

void ThreadPool::Stop() {
  // Its threads are not in this process; who owns it keeps it for good.
  if (IsForked()) return;
  {
    MutexLock lock(&mu_);
    stopped_ = true;
    while (!sleepers_.empty()) WakeOne();
  }
  while (true) {
    std::vector<std::thread> threads;
    {
      MutexLock lock(&mu_);
      threads.swap(threads_);
    }
    if (threads.empty()) return;
    for (std::thread& t : threads) t.join();
  }
}

void ThreadPool::Schedule(std::function<void()> task) {
  MutexLock lock(&mu_);
  if (stopped_) return;
  tasks_.push_back(std::move(task));
  ++tasks_waiting_;
  WakeOne();
}

void ThreadPool::ScheduleHelp(std::function<void()> help) {
  MutexLock lock(&mu_);
  if (stopped_) return;
  help_.push_back(std::move(help));
  ++help_waiting_;
  if (help_.size() > static_cast<size_t>(polling_)) WakeHelper();
}

void ThreadPool::Sleep(Sleeper* self) {
  self->called = false;
  self->place.Leave();
  sleepers_.push_back(self);
  self->woken.Wait(&mu_, [self] { return self->called; });
  self->place.Return();
}

void ThreadPool::WakeOne() {
  if (sleepers_.empty()) return;
  Sleeper* const last = sleepers_.back();
  sleepers_.pop_back();
  last->called = true;
  last->woken.Signal();
}

void ThreadPool::WakeHelper() {
  const auto elsewhere =
      std::find_if(sleepers_.begin(), sleepers_.end(),
                   [](const Sleeper* s) { return !s->place.IsHere(); });
  if (elsewhere != sleepers_.end()) {
    std::swap(*elsewhere, sleepers_.back());
  } else if (!sleepers_.empty()) {
    sleepers_.back()->place.Avoid();
  }
  WakeOne();
}

ThreadPool::Queue* ThreadPool::Next() {
  const int most = size_ + blocked_;
  if (!tasks_.empty() && running_ < most + extra_tasks_) return &tasks_;
  if (!help_.empty() && running_ < most) return &help_;
  return nullptr;
}

void ThreadPool::PollForHelp(SpinWait* spin) {
  {
    MutexLock lock(&mu_);
    if (stopped_ || Next() != nullptr) return;
    ++polling_;
  }
  spin->Until([&] { return help_waiting_.load() > 0 || tasks_wait(); });
  MutexLock lock(&mu_);
  --polling_;
}

bool ThreadPool::IsOwnThread() const { return current_pool == this; }

void ThreadPool::Work() {
  current_pool = this;
  const auto surplus = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return static_cast<int>(threads_.size()) > size_ + extra_tasks_ + blocked_;
  };
  SpinWait spin(kPolled);
  Sleeper self;
  bool has_helped = false;
  while (true) {
    if (has_helped) PollForHelp(&spin);
    std::function<void()> task;
    {
      MutexLock lock(&mu_);
      while (Next() == nullptr && !surplus() && !(stopped_ && tasks_.empty())) {
        Sleep(&self);
      }
      Queue* const queue = Next();
      if (queue == nullptr) {
        if (stopped_) return;
        // One that stood in for a thread which waits no more. After the lock it
        // touches nothing of the pool.
        const auto own = std::find_if(
            threads_.begin(), threads_.end(), [](const std::thread& thread) {
              return thread.get_id() == std::this_thread::get_id();
            });
        own->detach();
        threads_.erase(own);
        return;
      }
      task = std::move(queue->front());
      queue->pop_front();
      has_helped = queue == &help_;
      --(has_helped ? help_waiting_ : tasks_waiting_);
      ++running_;
    }
    task();
    task = nullptr;  // what it holds dies before the next is taken
    MutexLock lock(&mu_);
    --running_;
    if (stopped_) {
      while (!sleepers_.empty()) WakeOne();
    } else if (Next() != nullptr) {
      WakeOne();
    }
  }
}

absl::Status ForEachBlock(ThreadPool* pool, int64_t blocks,
                          const CancelToken& cancel,
                          absl::FunctionRef<absl::Status(int64_t)> fn) {
  if (pool == nullptr || pool->size() == 1 || blocks <= 1) {
    for (int64_t i = 0; i < blocks; ++i) {
      HAWSER_RETURN_IF_ERROR(cancel.Check());
      HAWSER_RETURN_IF_ERROR(fn(i));
    }
    return absl::OkStatus();
  }
  auto loop = std::make_shared<BlockLoop>(blocks, cancel, fn);
  const int64_t helpers = std::min<int64_t>(pool->size(), blocks) - 1;
  for (int64_t i = 0; i < helpers; ++i) {
    pool->ScheduleHelp([loop, pool] { loop->TakeBlocks(pool); });
  }
  loop->TakeBlocks(nullptr);
  thread_local SpinWait spin(kPolled);
  spin.Until([&] { return loop->done.load() == loop->blocks; });
  MutexLock lock(&loop->mu);
  loop->finished.Wait(&loop->mu,
                      [&] { return loop->done.load() == loop->blocks; });
  return loop->error;
}

absl::Status OnThreads(int count, absl::FunctionRef<absl::Status(int)> fn) {
  std::vector<absl::Status> statuses(std::max(count, 0));
  std::vector<std::thread> others;
  for (int i = 1; i < count; ++i) {
    others.emplace_back([&statuses, fn, i] { statuses[i] = fn(i); });
  }
  if (count > 0) statuses[0] = fn(0);
  for (std::thread& thread : others) thread.join();
  for (const absl::Status& status : statuses) HAWSER_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

}  // namespace hawser
