// ThreadPool: a few threads that run queued tasks, and loops over blocks that
// spread themselves over the idle ones.
#ifndef HAWSER_CORE_BASE_THREADS_THREAD_POOL_H_
#define HAWSER_CORE_BASE_THREADS_THREAD_POOL_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/cpu_threads.h"
#include "core/base/threads/spin.h"

namespace hawser {

// Thread-safe. Tasks must not wait for other tasks (ForEachBlock may: it does
// the work itself when no thread is idle). Tasks go before what helps others:
// a helper leaves its loop when a task waits. A thread that has helped polls for
// more of it for a moment, as loops come one after the other.
class ThreadPool {
 public:
  // Up to `extra_tasks` more tasks than threads run at a time, so that one does
  // not wait for the end of others that keep all threads; helpers do not.
  explicit ThreadPool(int threads, int extra_tasks = 0);
  ~ThreadPool() { Stop(); }
  // The one of this process, which all that computes shares: CpuThreads()
  // threads and one task more. It is made by the first call and never ends.
  static ThreadPool& OfProcess();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs what is queued and ends the threads; later tasks are dropped. Not
  // from one of its own threads.
  void Stop();
  void Schedule(std::function<void()> task);
  // Schedules `help` after all tasks: it takes part in what a task does, and
  // ends early when tasks_wait.
  void ScheduleHelp(std::function<void()> help);
  bool tasks_wait() const {
    return tasks_waiting_.load(std::memory_order_relaxed) > 0;
  }
  int size() const { return size_; }
  // True if the calling thread is one of this pool's.
  bool IsOwnThread() const;

  // While it lives, a task may wait for other tasks: the pool has one thread
  // more. On a thread of `pool`, or with nullptr, which does nothing.
  class Blocking {
   public:
    explicit Blocking(ThreadPool* pool);
    ~Blocking();
    Blocking(const Blocking&) = delete;
    Blocking& operator=(const Blocking&) = delete;

   private:
    ThreadPool* const pool_;
  };

 private:
  // A thread that sleeps until it is called.
  struct Sleeper {
    CondVar woken;
    bool called = false;
    ThreadPlace place;
  };
  void Work();
  void PollForHelp(SpinWait* spin);
  void Sleep(Sleeper* self) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Wakes the thread that slept last, if one sleeps.
  void WakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The same, to work beside the calling thread.
  void WakeHelper() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  using Queue = std::deque<std::function<void()>>;
  // Returns the queue whose first entry runs next; null: nothing may run now.
  Queue* Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int size_;
  const int extra_tasks_;
  Mutex mu_;
  std::vector<Sleeper*> sleepers_ ABSL_GUARDED_BY(mu_);
  Queue tasks_ ABSL_GUARDED_BY(mu_);
  Queue help_ ABSL_GUARDED_BY(mu_);
  std::atomic<int> tasks_waiting_{0};  // those in tasks_
  std::atomic<int> help_waiting_{0};   // those in help_
  int polling_ ABSL_GUARDED_BY(mu_) = 0;  // threads in PollForHelp
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  // The number of tasks that run, and of those among them that wait in a
  // Blocking and do not count.
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  int blocked_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mu_);
};

// Calls fn(i) once for every i in [0, blocks), on this thread and on idle ones
// of `pool` (nullptr: none), in no particular order, checking `cancel` before
// each. After the first error no new block starts. The blocks must not depend
// on the number of threads: then neither do the results' bits.
absl::Status ForEachBlock(ThreadPool* pool, int64_t blocks,
                          const CancelToken& cancel,
                          absl::FunctionRef<absl::Status(int64_t)> fn);

// Calls fn(i) for every i in [0, count) at the same time: fn(0) on this thread,
// the others on threads of their own, for what waits for something else than a
// core. Returns once all have ended; the error of the smallest i.
absl::Status OnThreads(int count, absl::FunctionRef<absl::Status(int)> fn);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_THREAD_POOL_H_
