#include "core/base/threads/alarm.h"

#include "core/base/clock.h"
#include "core/base/process/forked.h"

namespace hawser {

Alarm::~Alarm() {
  if (IsForked()) {
    Abandon(state_);
    return;
  }
  State& s = *state_;
  std::thread thread;
  std::map<Id, std::function<void()>> dropped;  // after the thread is gone
  {
    MutexLock lock(&s.mu);
    s.stopping = true;
    thread = std::move(s.thread);
    dropped.swap(s.waiting);
    s.changed.SignalAll();
  }
  if (!thread.joinable()) return;
  if (thread.get_id() == std::this_thread::get_id()) {
    thread.detach();
  } else {
    thread.join();
  }
}

Alarm& Alarm::OfProcess() {
  // Never destroyed: its functions may run while the process ends.
  static Alarm* const alarm = [] {
    auto* made = new Alarm();
    made->Soon([] {});
    return made;
  }();
  return *alarm;
}

Alarm::Id Alarm::At(absl::Time when, std::function<void()> fn) {
  State& s = *state_;
  MutexLock lock(&s.mu);
  const Id id(when, s.next++);
  if (s.stopping) return id;
  s.waiting.emplace(id, std::move(fn));
  if (!s.thread.joinable()) {
    ForbidForks();
    s.thread = std::thread([state = state_] { Run(*state); });
  } else if (when < s.wakes) {
    s.changed.SignalAll();
  }
  return id;
}

bool Alarm::Cancel(const Id& id) {
  State& s = *state_;
  std::function<void()> dropped;  // destroyed outside the lock
  MutexLock lock(&s.mu);
  auto at = s.waiting.find(id);
  if (at == s.waiting.end()) return false;
  dropped = std::move(at->second);
  s.waiting.erase(at);
  return true;
}

std::function<void()> Alarm::NextDue(State& s) {
  MutexLock lock(&s.mu);
  while (!s.stopping) {
    auto first = s.waiting.begin();
    if (first != s.waiting.end() && first->first.first <= SteadyNow()) {
      std::function<void()> due = std::move(first->second);
      s.waiting.erase(first);
      return due;
    }
    s.wakes =
        first == s.waiting.end() ? absl::InfiniteFuture() : first->first.first;
    s.changed.WaitUntil(
        &s.mu, s.wakes, [&s]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(s.mu) {
          return s.stopping || (!s.waiting.empty() &&
                                s.waiting.begin()->first.first < s.wakes);
        });
  }
  return nullptr;
}

void Alarm::Run(State& s) {
  while (auto due = NextDue(s)) due();
}

}  // namespace hawser
