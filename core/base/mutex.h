// Mutex on std::mutex with clang's thread-safety annotations. Not
// absl::Mutex: Debian's uninstrumented Abseil hides its locking from tsan.
#ifndef HAWSER_CORE_BASE_MUTEX_H_
#define HAWSER_CORE_BASE_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/clock.h"

namespace hawser {

class ABSL_LOCKABLE Mutex {
 public:
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mu_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mu_.unlock(); }
  bool TryLock() ABSL_EXCLUSIVE_TRYLOCK_FUNCTION(true) {
    return mu_.try_lock();
  }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) {
    mu_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

class CondVar {
 public:
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

  // Waits until `ready()` holds; it is called with `mu` held.
  template <typename Ready>
  void Wait(Mutex* mu, Ready ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    cv_.wait(lock, ready);
    lock.release();
  }
  // Waits like Wait, until `deadline` of SteadyNow, at most for a year; returns
  // what `ready()` says last.
  template <typename Ready>
  bool WaitUntil(Mutex* mu, absl::Time deadline, Ready ready)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (deadline == absl::InfiniteFuture()) {
      Wait(mu, ready);
      return true;
    }
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    const bool held = cv_.wait_until(lock, ToSteadyChrono(deadline), ready);
    lock.release();
    return held;
  }

 private:
  std::condition_variable cv_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_MUTEX_H_
