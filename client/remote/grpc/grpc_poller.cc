#include "client/remote/grpc/grpc_poller.h"

#include <grpc/grpc.h>
#include <grpcpp/alarm.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/process/forked.h"
#include "core/base/threads/progress.h"
#include "core/base/threads/spin.h"

namespace hawser {
namespace {

using Clock = std::chrono::steady_clock;

// The time after a wait in which the next one is expected, and no thread polls.
constexpr absl::Duration kExpectWait = absl::Milliseconds(1);
// While another thread polls for long, how often the own one looks.
constexpr absl::Duration kLongestLook = absl::Milliseconds(128);

// Makes the thread that polls a queue look whether it still waits. A kick is
// taken from the queue before the next one is put there. Called under one lock,
// but for Done.
class Kick final : public GrpcPoller::Tag {
 public:
  void PutOn(grpc::CompletionQueue* queue) {
    if (is_there_.exchange(true)) return;
    // Long past: gRPC rounds what is to come up to the next millisecond.
    alarm_.Set(queue, std::chrono::system_clock::from_time_t(0), this);
  }
  void Done(bool) override { is_there_ = false; }

 private:
  std::atomic<bool> is_there_{false};
  grpc::Alarm alarm_;
};

// How many callers wait for an answer, and whether the next one is about to.
// Not thread-safe.
class Callers {
 public:
  void Add() {
    ++count_;
    Touch();
  }
  void Remove(int count) {
    count_ -= count;
    Touch();
  }
  // One of them has waited until now.
  void Touch() { last_ = Clock::now(); }

  bool waiting() const { return count_ > 0; }
  bool expected() const {
    return count_ == 0 &&
           Clock::now() - last_ < absl::ToChronoNanoseconds(kExpectWait);
  }

 private:
  int count_ = 0;
  Clock::time_point last_;
};

}  // namespace

// The one that polls: at most one thread, the own one or one that waits.
class GrpcPoller::Polling final : public ProgressEngine {
 public:
  grpc::CompletionQueue* queue() { return &queue_; }

  void Begin() override {
    MutexLock lock(&mu_);
    callers_.Add();
  }

  void End(int count) override {
    MutexLock lock(&mu_);
    callers_.Remove(count);
    const bool another =
        who_ == Who::kWaiter && waiter_ != std::this_thread::get_id();
    if (another && !closing_) kick_.PutOn(&queue_);
  }

  void Advance(const std::function<bool()>& ready,
               absl::Time deadline) override {
    {
      MutexLock lock(&mu_);
      if (who_ != Who::kNobody || closing_) return;
      who_ = Who::kWaiter;
      waiter_ = std::this_thread::get_id();
      ++turn_;
    }
    // Long past: only what is there already is taken.
    const auto until = deadline <= absl::UnixEpoch()
                           ? std::chrono::system_clock::time_point()
                           : ToWallChrono(deadline);
    while (!ready()) {
      RunDeferred();
      if (!TakeOne(until)) break;
    }
    MutexLock lock(&mu_);
    who_ = Who::kNobody;
    callers_.Touch();
    // Others wait, or the own thread looks rarely.
    if (callers_.waiting() || look_ > kExpectWait) WakeOwnThread();
  }

  // The own thread, until Close and everything under way is done.
  void Run() {
    void* tag;
    bool ok;
    while (true) {
      AwaitTurn();
      RunDeferred();
      if (!queue_.Next(&tag, &ok)) return;
      static_cast<Tag*>(tag)->Done(ok);
      MutexLock lock(&mu_);
      if (who_ == Who::kOwnThread) who_ = Who::kNobody;
    }
  }

  // True if this is inside a Done of a thread that waits.
  bool AdvancedByThisThread() {
    MutexLock lock(&mu_);
    return who_ == Who::kWaiter && waiter_ == std::this_thread::get_id();
  }

  bool Defer(Tag* tag) {
    if (!AdvancedByThisThread()) return false;
    MutexLock lock(&mu_);
    deferred_.push_back(tag);
    return true;
  }

  void Close() {
    MutexLock lock(&mu_);
    closing_ = true;
    queue_.Shutdown();
    WakeOwnThread();
  }

 private:
  enum class Who : uint8_t { kNobody, kOwnThread, kWaiter };

  void RunDeferred() {
    std::vector<Tag*> tags;
    {
      MutexLock lock(&mu_);
      tags.swap(deferred_);
    }
    for (Tag* tag : tags) tag->Done(true);
  }

  // False: the time is over, or nothing will come any more.
  bool TakeOne(std::chrono::system_clock::time_point until) {
    void* tag;
    bool ok;
    const auto next = [&](std::chrono::system_clock::time_point deadline) {
      return queue_.AsyncNext(&tag, &ok, deadline) ==
             grpc::CompletionQueue::GOT_EVENT;
    };
    const auto poll = [&] { return next({}); };
    // Often what has come is there already.
    if (!poll() && (until == std::chrono::system_clock::time_point() ||
                    (!spin_.Until(poll) && !next(until)))) {
      return false;
    }
    static_cast<Tag*>(tag)->Done(ok);
    return true;
  }

  void WakeOwnThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    woken_ = true;
    changed_.Signal();
  }

  void AwaitTurn() {
    MutexLock lock(&mu_);
    look_ = kExpectWait;
    while (!closing_ && (who_ != Who::kNobody || callers_.expected())) {
      woken_ = false;
      const int64_t turn = turn_;
      changed_.WaitUntil(&mu_, SteadyNow() + look_,
                         [this]()
                             ABSL_NO_THREAD_SAFETY_ANALYSIS { return woken_; });
      const bool still = who_ != Who::kNobody && turn == turn_;
      look_ = still ? std::min(2 * look_, kLongestLook) : kExpectWait;
    }
    if (who_ == Who::kNobody) who_ = Who::kOwnThread;
  }

  grpc::CompletionQueue queue_;
  SpinWait spin_;  // of the thread that polls while it waits

  Mutex mu_;
  CondVar changed_;  // the own thread's
  bool woken_ ABSL_GUARDED_BY(mu_) = false;
  bool closing_ ABSL_GUARDED_BY(mu_) = false;
  Who who_ ABSL_GUARDED_BY(mu_) = Who::kNobody;
  std::thread::id waiter_ ABSL_GUARDED_BY(mu_);  // while kWaiter
  int64_t turn_ ABSL_GUARDED_BY(mu_) = 0;        // of the waiters
  Callers callers_ ABSL_GUARDED_BY(mu_);
  absl::Duration look_ ABSL_GUARDED_BY(mu_) = kExpectWait;
  std::vector<Tag*> deferred_ ABSL_GUARDED_BY(mu_);
  Kick kick_;  // its PutOn under mu_
};

std::shared_ptr<GrpcPoller> GrpcPoller::Shared() {
  ForbidForks();
  static Mutex* const mu = new Mutex;
  static auto* const shared = new std::weak_ptr<GrpcPoller>;
  // Never shut down: when its last user goes, this gRPC joins threads that may
  // sit in a poll of 10 s, and a client's end must be bounded.
  static const bool kept = (grpc_init(), true);
  (void)kept;
  MutexLock lock(mu);
  std::shared_ptr<GrpcPoller> poller = shared->lock();
  if (poller == nullptr) {
    poller.reset(new GrpcPoller);
    *shared = poller;
  }
  return poller;
}

GrpcPoller::GrpcPoller()
    : polling_(std::make_shared<Polling>()),
      thread_([polling = polling_] { polling->Run(); }) {
  ProgressEngine::Offer(polling_);
}

GrpcPoller::~GrpcPoller() {
  polling_->Close();
  if (thread_.get_id() == std::this_thread::get_id() ||
      polling_->AdvancedByThisThread()) {
    thread_.detach();  // it ends by itself, and holds what it needs
  } else {
    thread_.join();
  }
}

grpc::CompletionQueue* GrpcPoller::queue() const { return polling_->queue(); }

bool GrpcPoller::Defer(Tag* tag) { return polling_->Defer(tag); }

}  // namespace hawser
