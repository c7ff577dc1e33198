// Gate: lets callbacks that may come late find out that their owner is gone.
#ifndef HAWSER_CORE_BASE_THREADS_GATE_H_
#define HAWSER_CORE_BASE_THREADS_GATE_H_

#include <memory>

#include "core/base/mutex.h"
#include "core/base/process/forked.h"

namespace hawser {

// The owner shares its Gate with everything that outlives it and closes it
// first thing in its destructor; Close waits until those inside have left.
// Thread-safe. An owner must not be destroyed from inside its own gate, so
// callers' code is called outside it.
class Gate {
 public:
  // Inside as long as it lives. False: the owner is gone.
  class Pass {
   public:
    explicit Pass(Gate* gate) : gate_(gate) {}
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave();
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    Gate* const gate_;
  };

  Pass Enter() {
    MutexLock lock(&mu_);
    if (closed_) return Pass(nullptr);
    ++inside_;
    return Pass(this);
  }

  void Close() {
    if (IsForked()) return;  // those inside are in the parent
    MutexLock lock(&mu_);
    closed_ = true;
    empty_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return inside_ == 0;
    });
  }

 private:
  void Leave() {
    MutexLock lock(&mu_);
    if (--inside_ == 0 && closed_) empty_.SignalAll();
  }

  Mutex mu_;
  CondVar empty_;
  int inside_ ABSL_GUARDED_BY(mu_) = 0;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_GATE_H_
