#include "server/service/device_queue.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"

namespace hawser::server {

absl::Status DeviceQueue::Full() const {
  const double seconds = waiting_seconds_ / slots_;
  return ResourceExhausted("the device has ", waiting_,
                           " executions waiting, the most there may be; try "
                           "again in ",
                           std::max(1.0, std::ceil(seconds * 1e3)), " ms");
}

absl::Status DeviceQueue::Enter(uint64_t flow, double seconds,
                                std::function<void()> run) {
  {
    MutexLock lock(&mu_);
    if (waiting_ >= most_waiting_) return Full();
    Flow& own = flows_[flow];
    if (own.line.empty()) {
      own.had = std::max(own.had, now_);
      turns_.emplace(own.had, flow);
    }
    own.line.push_back({seconds, std::move(run)});
    ++waiting_;
    waiting_seconds_ += seconds;
  }
  StartWhatMay();
  return absl::OkStatus();
}

void DeviceQueue::Leave() {
  {
    MutexLock lock(&mu_);
    --running_;
  }
  StartWhatMay();
}

std::function<void()> DeviceQueue::TakeNext() {
  const auto turn = turns_.begin();
  const uint64_t flow = turn->second;
  now_ = turn->first;
  turns_.erase(turn);
  Flow& own = flows_[flow];
  Waiting next = std::move(own.line.front());
  own.line.pop_front();
  own.had += next.seconds;
  --waiting_;
  waiting_seconds_ -= next.seconds;
  if (!own.line.empty()) turns_.emplace(own.had, flow);
  Prune();
  ++running_;
  return std::move(next.run);
}

void DeviceQueue::Prune() {
  if (flows_.size() < 2 * turns_.size() + 64) return;
  absl::erase_if(flows_, [now = now_](const auto& flow) {
    return flow.second.line.empty() && flow.second.had <= now;
  });
}

// Work may be over before it returns, and leave: a loop, not a recursion.
void DeviceQueue::StartWhatMay() {
  mu_.Lock();
  if (starting_) {
    mu_.Unlock();
    return;
  }
  starting_ = true;
  while (running_ < slots_ && waiting_ > 0) {
    const std::function<void()> run = TakeNext();
    mu_.Unlock();
    run();
    mu_.Lock();
  }
  if (waiting_ == 0 && running_ == 0) {
    flows_.clear();
    now_ = 0;
    waiting_seconds_ = 0;
  }
  starting_ = false;
  mu_.Unlock();
}

size_t DeviceQueue::waiting() const {
  MutexLock lock(&mu_);
  return waiting_;
}

}  // namespace hawser::server
