// TickAlarm: wakes its owner at the earliest of the times it was asked for.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_TICK_ALARM_H_
#define HAWSER_CLIENT_REMOTE_SESSION_TICK_ALARM_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "client/remote/link/watched.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/gate.h"

namespace hawser {

// At most one alarm is set. The tick runs on the process's alarm, in a
// CallbackScope, without a lock, and says by Next when it is wanted again.
// Functions that are not said to take no lock are called with the owner's.
class TickAlarm {
 public:
  explicit TickAlarm(std::function<void()> tick) : tick_(std::move(tick)) {}
  ~TickAlarm() {
    Stop();
    Alarm::OfProcess().Cancel(alarm_);
  }
  TickAlarm(const TickAlarm&) = delete;
  TickAlarm& operator=(const TickAlarm&) = delete;

  // There is a tick at `when` or before.
  void By(absl::Time when) {
    if (when >= at_) return;
    if (at_ != absl::InfiniteFuture()) Alarm::OfProcess().Cancel(alarm_);
    at_ = when;
    alarm_ = Alarm::OfProcess().At(when, [this, gate = gate_] {
      CallbackScope scope;
      const Gate::Pass pass = gate->Enter();
      if (!pass) return;
      running_ = true;
      tick_();
      running_ = false;
    });
  }

  // Tells the tick how late it is; nullopt: it was asked for again, for later.
  std::optional<absl::Duration> Late(absl::Time now) const {
    if (now < at_) return std::nullopt;
    return now - at_;
  }
  // Called by the tick, at its end: sets the next one.
  void Next(absl::Time when) {
    at_ = absl::InfiniteFuture();
    By(when);
  }

  // Takes no lock, and none may be held: no tick begins any more; waits for
  // one that runs.
  void Stop() { gate_->Close(); }
  // A tick is running. Takes no lock.
  bool running() const { return running_; }

 private:
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::function<void()> tick_;
  std::atomic<bool> running_{false};
  absl::Time at_ = absl::InfiniteFuture();
  Alarm::Id alarm_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_TICK_ALARM_H_
