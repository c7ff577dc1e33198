// DeviceQueue: whose turn it is to compute, where several share a device.
#ifndef HAWSER_SERVER_SERVICE_QUEUE_DEVICE_QUEUE_H_
#define HAWSER_SERVER_SERVICE_QUEUE_DEVICE_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"
#include "server/service/queue/turn_slots.h"

namespace hawser::server {

// Long work waits here. The next to start is that of the tenant which has had
// the least of the device so far, and of its flows (sessions, or its stateless
// calls) of the one which has had the least. Work is charged the time that was
// measured. A few run at a time, so that the device is never idle; one more
// while a tenant waits of which nothing runs, or brief work of such a flow.
// TurnSlots decides; this class has
// the lock, the threads that wait and the calls. Thread-safe.
class DeviceQueue {
 public:
  // Work that takes less is not worth a line and runs at once.
  static constexpr double kShort = 1e-3;  // seconds

  struct Options {
    int running = 2;
    size_t waiting = 4096;
    // The most of these of one tenant.
    size_t waiting_of_tenant = 4096;
    std::function<absl::Time()> now = SteadyNow;
  };
  // A line is kept for each of these.
  struct Flow {
    absl::string_view tenant;
    uint64_t id = 0;  // within the tenant
  };
  struct Work {
    double seconds = 0;  // the estimate; may be infinite
    CancelToken cancel;
    // One of the two is called, once: at its turn, on the thread of the caller
    // that enters or leaves; or, when `cancel` expires before, on the alarm or
    // inside Enter.
    std::function<void()> run;
    std::function<void(const absl::Status&)> give_up;
  };
  class Turn;  // of one Work
  using TurnPtr = std::shared_ptr<Turn>;

  explicit DeviceQueue(Options options);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // True if work of such an estimate is to wait its turn.
  static bool Lines(double seconds) { return seconds >= kShort; }

  // A turn of `flow`, not in line yet.
  TurnPtr MakeTurn(const Flow& flow, Work work);
  // What the run of a turn is given. It keeps both: a run that is not awaited may
  // end after its server.
  static std::shared_ptr<runtime::Sharing> SharingOf(
      std::shared_ptr<DeviceQueue> queue, TurnPtr turn);
  // Puts it in line; it may run before this returns. Errors:
  // kResourceExhausted saying whose limit it is and when to try again; nothing
  // of the work is called then.
  absl::Status Enter(const TurnPtr& turn);
  // The work of a turn is over, wherever its thread is. Called once for each
  // that ran.
  void Leave(const TurnPtr& turn);
  // A turn that runs makes way and waits its turn anew. Called by the thread
  // that computes, and blocks it; returns also when the token expires or the
  // turn leaves.
  void Pause(const TurnPtr& turn);

  // Stops work that has had more of the device than `limit`; to be called every
  // second or so.
  void EndLongerThan(absl::Duration limit);

  // The work that waits at a moment.
  struct Line {
    size_t waiting = 0;  // of all tenants
    size_t waiting_of_tenant = 0;
    size_t before_tenant = 0;  // that came before the tenant's oldest
    absl::Duration oldest;     // has waited so long
    absl::Duration oldest_of_tenant;
    absl::Duration quiet;  // since a turn began, paused or left
  };
  Line Look(absl::string_view tenant) const;
  size_t waiting() const;
  // "2 run: tenant a for 3s, tenant b for 10ms", for a log.
  std::string WhatRuns() const;

 private:
  // Starts what may. A thread that is at it already, further out, goes on with
  // what is left: work may be over before it returns, and leave, and that must
  // be a loop and no recursion. `blocks`: it will not get there soon.
  void StartWhatMay(bool blocks = false);
  // The turn's own thread waits until it runs again.
  void AwaitTurn(const TurnPtr& turn);

  const std::function<absl::Time()> now_;
  mutable Mutex mu_;
  TurnSlots slots_ ABSL_GUARDED_BY(mu_);
  CondVar resumed_;  // a paused turn runs again, or is over
  absl::Time moved_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<std::thread::id> starting_ ABSL_GUARDED_BY(mu_);
};

// The owner of the work holds it meanwhile. The queue's lock guards what
// TurnSlots keeps in it.
class DeviceQueue::Turn final : public TurnSlots::Turn,
                                public runtime::Sharing,
                                public std::enable_shared_from_this<Turn> {
 public:
  Turn(DeviceQueue* queue, const Flow& flow, Work work)
      : TurnSlots::Turn(flow.tenant, flow.id, work.seconds),
        queue_(queue),
        work_(std::move(work)) {}
  // True once it has run for TurnSlots::Slice().
  bool others_wait() const override;
  void MakeWay() override { queue_->Pause(shared_from_this()); }

  // Not OK: stopped by EndLongerThan, and what to tell its client.
  absl::Status ended() const {
    return over_limit_ ? ResourceExhausted(ended_text_) : absl::OkStatus();
  }

 private:
  friend class DeviceQueue;
  // Its token has expired: it leaves, if it waits.
  void Expire(const absl::Status& status);
  // It waits no more. Called without the queue's lock.
  void LetGo();

  DeviceQueue* const queue_;
  Work work_;                         // null functions once it has run
  CancelToken::Registration expiry_;  // while it waits
  std::atomic<bool> over_limit_{false};
  std::string ended_text_;  // written before over_limit_ is set
  // In nanoseconds; no slice ends before.
  std::atomic<int64_t> earliest_end_{0};
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_QUEUE_DEVICE_QUEUE_H_
