// DeviceQueue: whose turn it is to compute, where several share a device.
#ifndef HAWSER_SERVER_SERVICE_QUEUE_DEVICE_QUEUE_H_
#define HAWSER_SERVER_SERVICE_QUEUE_DEVICE_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

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
#include "server/service/queue/fair_line.h"

namespace hawser::server {

// Long work waits here. The next to start is that of the tenant which has had
// the least of the device so far, and of its flows (sessions, or its stateless
// calls) of the one which has had the least. Work is charged the time that was
// measured. A few run at a time, so that the device is never idle; one more
// while a tenant waits of which nothing runs. Thread-safe.
class DeviceQueue {
 public:
  // Work that takes less is not worth a line and runs at once.
  static constexpr double kShort = 1e-3;  // seconds
  // After so long on the device a loop makes way for others between its turns.
  static constexpr absl::Duration kSlice = absl::Milliseconds(10);

  struct Options {
    int running = 2;
    size_t waiting = 4096;
    // Of these, of one tenant.
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

  // Whether work of such an estimate is to wait its turn.
  static bool Lines(double seconds) { return seconds >= kShort; }

  // A turn of `flow`, not in line yet.
  TurnPtr MakeTurn(const Flow& flow, Work work);
  // Puts it in line; it may run before this returns. Errors:
  // kResourceExhausted saying whose limit it is and when to try again; nothing
  // of the work is called then.
  absl::Status Enter(const TurnPtr& turn);
  // The work of a turn is over. Once for each that ran.
  void Leave(const TurnPtr& turn);
  // A turn that runs makes way and waits its turn anew. Called by the thread
  // that computes, and blocks it; returns also when the token expires.
  void Pause(const TurnPtr& turn);

  // Stops work that has had more of the device than `limit`; to be called every
  // second or so.
  void EndLongerThan(absl::Duration limit);

  size_t waiting() const;

 private:
  absl::Status Full(const Turn& turn) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The next that may start; null: none.
  TurnPtr TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Charges all that run for their time up to now.
  void ChargeRunning() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Charge(Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void StopRunning(const TurnPtr& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Push(const TurnPtr& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // A turn that was pushed waits no longer.
  void CountOut(const Turn& turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Out of the line; false when it is not there.
  bool Withdraw(const TurnPtr& turn);
  void StartWhatMay();

  const Options options_;
  mutable Mutex mu_;
  FairLine<TurnPtr> line_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_set<TurnPtr> running_ ABSL_GUARDED_BY(mu_);
  CondVar resumed_;  // a paused turn runs again
  int paused_ ABSL_GUARDED_BY(mu_) = 0;
  std::atomic<size_t> waiting_{0};  // read by Pause without the lock
  double waiting_seconds_ ABSL_GUARDED_BY(mu_) = 0;
  size_t waiting_endless_ ABSL_GUARDED_BY(mu_) = 0;
  bool starting_ ABSL_GUARDED_BY(mu_) = false;  // a thread is at it
};

// Its fields are the queue's; the owner of the work holds it meanwhile.
class DeviceQueue::Turn final : public runtime::Sharing,
                                public std::enable_shared_from_this<Turn> {
 public:
  Turn(DeviceQueue* queue, const Flow& flow, Work work)
      : queue_(queue),
        tenant_(flow.tenant),
        flow_(flow.id),
        work_(std::move(work)) {}
  bool others_wait() const override;
  void MakeWay() override { queue_->Pause(shared_from_this()); }

  // Not OK: stopped by EndLongerThan, and what to tell its client.
  absl::Status ended() const {
    return over_limit_ ? ResourceExhausted(ended_text_) : absl::OkStatus();
  }

 private:
  friend class DeviceQueue;
  enum class State { kNew, kWaiting, kRunning, kOver };
  // Its token has expired: it leaves, if it waits.
  void Expire(const absl::Status& status);
  // It waits no more. Without the queue's lock.
  void LetGo();

  DeviceQueue* const queue_;
  const std::string tenant_;
  const uint64_t flow_;
  Work work_;
  CancelToken::Registration expiry_;  // while it waits
  std::atomic<bool> over_limit_{false};
  std::string ended_text_;  // written before over_limit_ is set
  // ---- guarded by the queue's lock
  State state_ = State::kNew;
  bool paused_ = false;
  absl::Time charged_to_;              // while it runs
  absl::Duration had_;                 // of the device, before charged_to_
  std::atomic<int64_t> slice_end_{0};  // nanoseconds; read without the lock
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_QUEUE_DEVICE_QUEUE_H_
