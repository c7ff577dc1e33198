// Future/Promise: one StatusOr<T>, made on one thread and awaited on others.
#ifndef HAWSER_CORE_BASE_FUTURE_H_
#define HAWSER_CORE_BASE_FUTURE_H_

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

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
  // called again and from many threads.
  absl::StatusOr<T> Await(
      absl::Time deadline = absl::InfiniteFuture()) const {
    State& s = *state_;
    MutexLock lock(&s.mu);
    if (!s.changed.WaitUntil(&s.mu, deadline,
                             [&] { return s.value.has_value(); })) {
      return DeadlineExceeded("no result before the deadline");
    }
    return *s.value;
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
  };
  explicit Future(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// The writing end. A Promise that dies unset completes its Future with
// kCancelled, so nobody waits for ever.
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
    // Whoever waits may destroy this Promise as soon as the value is there.
    const auto state = state_;
    std::vector<std::function<void(const absl::StatusOr<T>&)>> callbacks;
    {
      MutexLock lock(&state->mu);
      if (state->value.has_value()) return false;
      state->value = std::move(value);
      callbacks.swap(state->callbacks);
      state->changed.SignalAll();
    }
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
#endif  // HAWSER_CORE_BASE_FUTURE_H_
