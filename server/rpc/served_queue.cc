#include "server/rpc/served_queue.h"

#include <grpc/support/time.h>
#include <pthread.h>
#include <time.h>

#include <chrono>

#include "core/base/clock.h"
#include "core/base/threads/spin.h"
#include "server/rpc/inline_time.h"
#include "server/rpc/rpc.h"

namespace hawser::server {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(10);
// A thread is held up when it has used so much of the processor in one wait,
// and so much of it since the last look. A message of 16 MiB takes about that.
constexpr absl::Duration kLong = absl::Milliseconds(5);
constexpr absl::Duration kGoesOn = absl::Microseconds(500);
// A client that holds up a thread will do it again: until then two serve.
constexpr absl::Duration kStays = absl::Milliseconds(500);
// A connection is to blame after so much of the processor in one wait, and
// again after as much more.
constexpr absl::Duration kBlameAt = absl::Milliseconds(100);
constexpr absl::Duration kBlameAgain = absl::Milliseconds(200);

absl::Duration ProcessorTimeOf(pthread_t thread) {
  clockid_t clock;
  timespec used{};
  if (pthread_getcpuclockid(thread, &clock) != 0 ||
      clock_gettime(clock, &used) != 0) {
    return absl::ZeroDuration();
  }
  return absl::DurationFromTimespec(used);
}

}  // namespace

void ServedQueue::Start() {
  posts_[0].thread = std::thread([this] { Serve(); });
  for (int i = 1; i <= kStandIns; ++i) {
    posts_[i].thread = std::thread([this, i] { StandIn(i); });
  }
}

void ServedQueue::Join() {
  if (!posts_[0].thread.joinable()) return;
  {
    MutexLock lock(&mu_);
    over_ = true;
    changed_.SignalAll();
  }
  queue_->Shutdown();
  for (Post& post : posts_) post.thread.join();
}

void ServedQueue::Handle(void* tag, bool ok) {
  MutexLock lock(&handling_);
  InlineTime::BeginEvent();
  static_cast<Rpc::Tag*>(tag)->Done(ok);
}

void ServedQueue::Serve() {
  SpinWait spin;
  void* tag;
  bool ok;
  const auto poll = [&] {
    return queue_->AsyncNext(&tag, &ok,
                             std::chrono::system_clock::time_point()) ==
           grpc::CompletionQueue::GOT_EVENT;
  };
  // Often the next event is there already.
  while (poll() || spin.Until(poll) || queue_->Next(&tag, &ok)) {
    posts_[0].returns.fetch_add(1, std::memory_order_relaxed);
    Handle(tag, ok);
  }
}

bool ServedQueue::HeldUp(int number, std::array<Sight, kStandIns>& sights) {
  bool all = true;
  for (int i = 0; i < number; ++i) {
    Post& post = posts_[i];
    Sight& sight = sights[i];
    const uint64_t returns = post.returns;
    const absl::Duration used = ProcessorTimeOf(post.thread.native_handle());
    const absl::Duration since = used - sight.used;
    sight.used = used;
    sight.in_wait += since;
    if (returns != sight.returns) {
      sight.in_wait = absl::ZeroDuration();
      sight.blame_at = kBlameAt;
    }
    sight.returns = returns;
    if (sight.in_wait >= sight.blame_at) {
      sight.blame_at += kBlameAgain;
      blame_();
    }
    all = all && since >= kGoesOn && sight.in_wait >= kLong;
  }
  return all;
}

void ServedQueue::Help(int number, std::array<Sight, kStandIns>& sights) {
  Post& post = posts_[number];
  SetHelping(number);
  const gpr_timespec while_helping =
      gpr_time_from_millis(absl::ToInt64Milliseconds(kLookEvery), GPR_TIMESPAN);
  absl::Time next_look = SteadyNow() + kLookEvery;
  absl::Time leave_at = SteadyNow() + kStays;
  while (true) {
    void* tag;
    bool ok;
    const auto next = queue_->AsyncNext(&tag, &ok, while_helping);
    post.returns.fetch_add(1, std::memory_order_relaxed);
    if (next == grpc::CompletionQueue::SHUTDOWN) break;
    if (next == grpc::CompletionQueue::GOT_EVENT) Handle(tag, ok);
    const absl::Time now = SteadyNow();
    if (now < next_look) continue;
    next_look = now + kLookEvery;
    if (HeldUp(number, sights)) leave_at = now + kStays;
    if (now >= leave_at) break;
  }
  SetHelping(number - 1);
}

void ServedQueue::SetHelping(int number) {
  MutexLock lock(&mu_);
  helping_ = number;
  changed_.SignalAll();
}

void ServedQueue::StandIn(int number) {
  std::array<Sight, kStandIns> sights;
  while (true) {
    {
      MutexLock lock(&mu_);
      changed_.Wait(&mu_, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
        return over_ || helping_ >= number - 1;
      });
      changed_.WaitUntil(
          &mu_, SteadyNow() + kLookEvery,
          [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return over_; });
      if (over_) return;
    }
    if (HeldUp(number, sights)) Help(number, sights);
  }
}

}  // namespace hawser::server
