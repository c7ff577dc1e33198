// ThreadPool: a few threads that run queued tasks, and loops over blocks that
// spread themselves over the idle ones.
#ifndef HAWSER_CORE_BASE_THREAD_POOL_H_
#define HAWSER_CORE_BASE_THREAD_POOL_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "core/base/cancel.h"
#include "core/base/mutex.h"

namespace hawser {

// Thread-safe. Tasks must not wait for other tasks (ForEachBlock may: it does
// the work itself when nobody is idle).
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool() { Stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Runs what is queued and ends the threads; later tasks are dropped. Not
  // from one of its own threads.
  void Stop();
  void Schedule(std::function<void()> task);
  int size() const { return size_; }
  // Whether the calling thread is one of this pool's.
  bool IsOwnThread() const;

 private:
  void Work();

  const int size_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;  // written by constructor and Stop only
};

// Calls fn(i) once for every i in [0, blocks), on this thread and on idle ones
// of `pool` (nullptr: none), in no particular order, checking `cancel` before
// each. After the first error no new block starts. What a block is must not
// depend on the number of threads: then neither do the results' bits.
absl::Status ForEachBlock(ThreadPool* pool, int64_t blocks,
                          const CancelToken& cancel,
                          absl::FunctionRef<absl::Status(int64_t)> fn);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREAD_POOL_H_
