#include "server/sweeper.h"

#include <utility>

#include "absl/time/time.h"
#include "core/base/clock.h"

namespace hawser::server {
namespace {

constexpr absl::Duration kSweepEvery = absl::Seconds(1);

}  // namespace

void Sweeper::Start(std::function<void()> sweep) {
  thread_ = std::thread([this, sweep = std::move(sweep)] {
    while (true) {
      {
        MutexLock lock(&mu_);
        const bool stopping = changed_.WaitUntil(
            &mu_, SteadyNow() + kSweepEvery,
            [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return stopping_; });
        if (stopping) return;
      }
      sweep();
    }
  });
}

bool Sweeper::Stop() {
  {
    MutexLock lock(&mu_);
    if (stopping_) return false;
    stopping_ = true;
    changed_.SignalAll();
  }
  if (thread_.joinable()) thread_.join();
  return true;
}

}  // namespace hawser::server
