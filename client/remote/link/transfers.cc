#include "client/remote/link/transfers.h"

#include <algorithm>
#include <utility>

#include "client/remote/link/watched.h"
#include "core/base/clock.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// The link is down: about the time it takes to be reattached.
constexpr absl::Duration kRetryDelay = absl::Milliseconds(100);
// A server that was restarted does not know the session. Its stream finds that
// out within these.
constexpr int kTriesWhileUnknown = 50;

}  // namespace

Transfers::Transfers(int threads, absl::Duration patience)
    : patience_(patience), running_(std::max(threads, 1)) {
  ForbidForks();
  for (Running& slot : running_) {
    threads_.emplace_back([this, &slot] { Run(&slot); });
  }
}

Transfers::~Transfers() {
  std::deque<std::shared_ptr<Transfer>> waiting;
  {
    MutexLock lock(&mu_);
    stop_ = true;
    waiting.swap(waiting_);
    for (Running& slot : running_) slot.cancel.Cancel();
    changed_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  for (auto& transfer : waiting) {
    transfer->Done(Cancelled("the client was closed"));
  }
}

void Transfers::Add(std::shared_ptr<Transfer> transfer) {
  {
    MutexLock lock(&mu_);
    if (!stop_) {
      waiting_.push_back(std::move(transfer));
      changed_.SignalAll();
      return;
    }
  }
  transfer->Done(Cancelled("the client was closed"));
}

void Transfers::DropUnwanted() {
  std::vector<std::shared_ptr<Transfer>> unwanted;
  {
    MutexLock lock(&mu_);
    for (Running& slot : running_) {
      if (slot.transfer != nullptr && !slot.transfer->Wanted()) {
        slot.cancel.Cancel();
        changed_.SignalAll();
      }
    }
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      if ((*it)->Wanted()) {
        ++it;
      } else {
        unwanted.push_back(std::move(*it));
        it = waiting_.erase(it);
      }
    }
  }
  for (auto& transfer : unwanted) {
    transfer->Done(Cancelled("nobody waits for it any more"));
  }
}

void Transfers::Run(Running* slot) {
  CallbackScope scope;
  for (;;) {
    std::shared_ptr<Transfer> transfer;
    CancelToken cancel = CancelToken::WithFlag();
    {
      MutexLock lock(&mu_);
      changed_.Wait(&mu_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return stop_ || !waiting_.empty();
      });
      if (stop_) return;
      transfer = std::move(waiting_.front());
      waiting_.pop_front();
      *slot = {transfer, cancel};
    }
    const absl::Status status = Attempt(transfer, cancel);
    {
      MutexLock lock(&mu_);
      *slot = {};
    }
    transfer->Done(status);
  }
}

absl::Status Transfers::Attempt(const std::shared_ptr<Transfer>& transfer,
                                const CancelToken& cancel) {
  absl::Time until = absl::InfiniteFuture();
  for (int tries = 1;; ++tries) {
    absl::Status status = transfer->Run(cancel);
    if (transfer->InSession() && absl::IsNotFound(status) &&
        tries <= kTriesWhileUnknown) {
      status = Unavailable(status.message());
    }
    if (!absl::IsUnavailable(status) || !transfer->MayRetry()) return status;
    const absl::Time now = SteadyNow();
    if (tries == 1) until = now + patience_;
    if (now >= until) return status;
    const absl::Time retry = now + kRetryDelay;
    MutexLock lock(&mu_);
    changed_.WaitUntil(&mu_, retry, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return stop_ || !cancel.Check().ok();
    });
    HAWSER_RETURN_IF_ERROR(cancel.Check());
  }
}

}  // namespace hawser
