// Future/Promise: one StatusOr<T>, made on one thread and awaited on others.
#ifndef HAWSER_CORE_BASE_THREADS_FUTURE_H_
#define HAWSER_CORE_BASE_THREADS_FUTURE_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/threads/progress.h"

namespace hawser {

template <typename T>
class Promise;

// A copyable handle to a result that may not be there yet. Thread-safe.
template <typename T>
class Future {
 public:
  Future() = default;  // no state: only assignment and valid()
  // Already there.
  explicit Future(absl::StatusOr<T> value) : state_(new State) {
    state_->value = std::move(value);
  }

  bool valid() const { return state_ != nullptr; }

  bool ready() const {
    MutexLock lock(&state_->mu);
    return state_->value.has_value();
  }

  // Blocks until the value is there or `deadline` has passed; then
  // kDeadlineExceeded, and the work goes on. The value stays, so Await may be
  // called again and from many threads. Meanwhile the thread may run what
  // completes other Futures (see ProgressEngine), so it must hold no lock that
  // an OnReady takes.
  absl::StatusOr<T> Await(absl::Time deadline = absl::InfiniteFuture()) const {
    const std::shared_ptr<State> state = state_;
    {
      MutexLock lock(&state->mu);
      if (state->value.has_value()) return *state->value;
    }
    // The threads that would complete it are not in this process.
    HAWSER_RETURN_IF_ERROR(CheckNotForked());
    const bool counted = Advance(*state, deadline);
    MutexLock lock(&state->mu);
    if (state->changed.WaitUntil(&state->mu, deadline,
                                 [&] { return state->value.has_value(); })) {
      return *state->value;
    }
    if (counted) {
      --state->counted_waits;
      state->engine->End(1);
    }
    return DeadlineExceeded("no result before the deadline");
  }

  // Calls fn(const StatusOr<T>&) once: at once when ready, else on the thread
  // that completes it. `fn` must not block.
  void OnReady(std::function<void(const absl::StatusOr<T>&)> fn) const {
    {
      MutexLock lock(&state_->mu);
      if (!state_->value.has_value()) {
        state_->callbacks.push_back(std::move(fn));
        return;
      }
    }
    fn(*state_->value);  // written once, so readable without the lock
  }

 private:
  friend class Promise<T>;
  struct State {
    Mutex mu;
    CondVar changed;
    std::optional<absl::StatusOr<T>> value;
    std::vector<std::function<void(const absl::StatusOr<T>&)>> callbacks;
    // The number of threads that wait and have told this engine so.
    int counted_waits = 0;
    std::shared_ptr<ProgressEngine> engine;
  };
  explicit Future(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // Works until the value is there, if there is an engine and no other thread
  // is at it. Returns whether this thread counts in `counted_waits`.
  static bool Advance(State& s, absl::Time deadline) {
    std::shared_ptr<ProgressEngine> engine = ProgressEngine::Current();
    if (engine == nullptr) return false;
    {
      MutexLock lock(&s.mu);
      if (s.value.has_value()) return false;
      if (s.counted_waits > 0 && s.engine != engine) return false;
      s.engine = engine;
      ++s.counted_waits;
      engine->Begin();
    }
    engine->Advance(
        [&s] {
          MutexLock lock(&s.mu);
          return s.value.has_value();
        },
        deadline);
    return true;
  }

  std::shared_ptr<State> state_;
};

// The writing end. A Promise that dies unset completes its Future with
// kCancelled, so no wait is endless.
template <typename T>
class Promise {
 public:
  Promise() : state_(std::make_shared<typename Future<T>::State>()) {}
  Promise(Promise&&) = default;
  Promise& operator=(Promise&& other) {
    if (this != &other) {
      Abandon();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  ~Promise() { Abandon(); }

  Future<T> future() const { return Future<T>(state_); }

  // Only the first call counts; returns whether this was it.
  bool Set(absl::StatusOr<T> value) {
    // A thread that waits may destroy this Promise as soon as the value is
    // there.
    const auto state = state_;
    std::vector<std::function<void(const absl::StatusOr<T>&)>> callbacks;
    std::shared_ptr<ProgressEngine> engine;
    int counted_waits = 0;
    {
      MutexLock lock(&state->mu);
      if (state->value.has_value()) return false;
      state->value = std::move(value);
      callbacks.swap(state->callbacks);
      engine.swap(state->engine);
      counted_waits = std::exchange(state->counted_waits, 0);
      state->changed.SignalAll();
    }
    if (counted_waits > 0) engine->End(counted_waits);
    for (auto& fn : callbacks) fn(*state->value);
    return true;
  }

 private:
  void Abandon() {
    if (state_ != nullptr) Set(Cancelled("the work was abandoned"));
  }
  std::shared_ptr<typename Future<T>::State> state_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_THREADS_FUTURE_H_
