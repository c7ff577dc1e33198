#include "core/base/threads/cancel.h"

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/threads/or_expired.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(CancelToken, DefaultIsNeverCancelled) {
  const CancelToken token;
  token.Cancel();
  EXPECT_OK(token.Check());
  EXPECT_EQ(token.deadline(), absl::InfiniteFuture());
}

TEST(CancelToken, EveryCopySeesTheFlag) {
  const CancelToken token = CancelToken::WithFlag();
  const CancelToken copy = token;
  EXPECT_OK(copy.Check());
  std::thread other([&] { token.Cancel(); });
  other.join();
  EXPECT_THAT(copy.Check(), StatusIs(StatusCode::kCancelled, "caller"));
}

TEST(CancelToken, DeadlinePasses) {
  const CancelToken past(absl::Now() - absl::Seconds(1));
  EXPECT_THAT(past.Check(), StatusIs(StatusCode::kDeadlineExceeded, ""));
  const CancelToken future(absl::Now() + absl::Hours(1));
  EXPECT_OK(future.Check());
  future.Cancel();
  EXPECT_THAT(future.Check(), StatusIs(StatusCode::kCancelled, ""));
}

TEST(CancelToken, TheEarliestDeadlineCounts) {
  const absl::Time early = absl::Now() + absl::Hours(1);
  const absl::Time late = early + absl::Hours(1);
  const CancelToken token(early);
  EXPECT_EQ(token.deadline(), early);
  EXPECT_EQ(token.Until(late).deadline(), early);
  EXPECT_EQ(CancelToken(late).Until(early).deadline(), early);
  EXPECT_EQ(CancelToken::WithFlag().deadline(), absl::InfiniteFuture());
}

// What a registration has been told, and when.
class Told {
 public:
  std::function<void(const absl::Status&)> Function() {
    return [this](const absl::Status& status) {
      MutexLock lock(&mu_);
      all_.push_back(status);
      changed_.SignalAll();
    };
  }
  // The first it is told; OK: nothing within `patience`.
  absl::Status Await(absl::Duration patience = absl::Seconds(20)) {
    MutexLock lock(&mu_);
    changed_.WaitUntil(
        &mu_, SteadyNow() + patience,
        [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !all_.empty(); });
    return all_.empty() ? absl::OkStatus() : all_.front();
  }
  size_t times() {
    MutexLock lock(&mu_);
    return all_.size();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<absl::Status> all_ ABSL_GUARDED_BY(mu_);
};

constexpr absl::Duration kAWhile = absl::Milliseconds(30);

TEST(CancelTokenOnExpiry, CancelIsTold) {
  const CancelToken token = CancelToken::WithFlag();
  Told told;
  const auto registration = token.OnExpiry(told.Function());
  EXPECT_OK(told.Await(kAWhile));
  token.Cancel();
  EXPECT_THAT(told.Await(), StatusIs(StatusCode::kCancelled, "caller"));
  token.Cancel();
  absl::SleepFor(kAWhile);
  EXPECT_EQ(told.times(), 1u);
}

TEST(CancelTokenOnExpiry, TheDeadlineIsTold) {
  const absl::Time deadline = SteadyNow() + kAWhile;
  const CancelToken token(deadline);
  Told told;
  const auto registration = token.OnExpiry(told.Function());
  EXPECT_THAT(told.Await(), StatusIs(StatusCode::kDeadlineExceeded, "passed"));
  EXPECT_GE(SteadyNow(), deadline);
}

TEST(CancelTokenOnExpiry, WhatHasExpiredBeforeIsTold) {
  const CancelToken cancelled = CancelToken::WithFlag();
  cancelled.Cancel();
  const CancelToken past(SteadyNow() - absl::Seconds(1));
  for (const CancelToken& token : {cancelled, past}) {
    Told told;
    const auto registration = token.OnExpiry(told.Function());
    EXPECT_FALSE(told.Await().ok());
  }
}

TEST(CancelTokenOnExpiry, WhatATokenIsMadeOfExpiresIt) {
  const CancelToken parent = CancelToken::WithFlag();
  const CancelToken child = parent.Until(SteadyNow() + absl::Hours(1));
  Told of_child, of_parent;
  const auto first = child.OnExpiry(of_child.Function());
  const auto second = parent.OnExpiry(of_parent.Function());
  child.Cancel();
  EXPECT_THAT(of_child.Await(), StatusIs(StatusCode::kCancelled, ""));
  EXPECT_OK(of_parent.Await(kAWhile));
  parent.Cancel();
  EXPECT_THAT(of_parent.Await(), StatusIs(StatusCode::kCancelled, ""));
  EXPECT_EQ(of_child.times(), 1u);
}

TEST(CancelTokenOnExpiry, NothingIsToldAfterTheEnd) {
  const CancelToken token(SteadyNow() + kAWhile);
  Told ended, dropped, moved;
  {
    const auto registration = token.OnExpiry(ended.Function());
    auto other = token.OnExpiry(dropped.Function());
    other.Drop();
  }
  auto kept = token.OnExpiry(moved.Function());
  CancelToken::Registration other = std::move(kept);
  EXPECT_FALSE(moved.Await().ok());
  other = CancelToken::Registration();
  token.Cancel();
  EXPECT_EQ(ended.times(), 0u);
  EXPECT_EQ(dropped.times(), 0u);
}

TEST(CancelTokenOnExpiry, TheEndWaitsForACallUnderWay) {
  for (int i = 0; i < 100; ++i) {
    const CancelToken token = CancelToken::WithFlag();
    std::atomic<bool> inside{false}, gone{false};
    {
      const auto registration = token.OnExpiry([&](const absl::Status&) {
        inside = true;
        absl::SleepFor(absl::Milliseconds(1));
        EXPECT_FALSE(gone);
        inside = false;
      });
      token.Cancel();
      if (i % 2 == 0) absl::SleepFor(absl::Microseconds(200));
    }
    gone = true;
    EXPECT_FALSE(inside);
  }
}

TEST(CancelTokenOnExpiry, ItMayEndInsideItsOwnCall) {
  const CancelToken token = CancelToken::WithFlag();
  Told told;
  CancelToken::Registration registration;
  Mutex mu;
  MutexLock lock(&mu);  // of the one that cancels: nothing is called inside
  registration = token.OnExpiry([&](const absl::Status& status) {
    MutexLock inner(&mu);
    registration.End();
    told.Function()(status);
  });
  token.Cancel();
  mu.Unlock();
  EXPECT_FALSE(told.Await().ok());
  mu.Lock();
}

TEST(CancelTokenOnExpiry, ADefaultTokenTellsNothing) {
  Told told;
  const auto registration = CancelToken().OnExpiry(told.Function());
  EXPECT_OK(told.Await(kAWhile));
}

TEST(OrExpired, IsTheValueOrTheExpiry) {
  const CancelToken token = CancelToken::WithFlag();
  Promise<int> first, second;
  const Future<int> valued = OrExpired(first.future(), token);
  const Future<int> expired = OrExpired(second.future(), token);
  first.Set(7);
  ASSERT_OK_AND_ASSIGN(const int value, valued.Await());
  EXPECT_EQ(value, 7);
  EXPECT_FALSE(expired.ready());
  token.Cancel();
  EXPECT_THAT(expired.Await(), StatusIs(StatusCode::kCancelled, "caller"));
  second.Set(8);
  EXPECT_THAT(expired.Await(), StatusIs(StatusCode::kCancelled, "caller"));
}

}  // namespace
}  // namespace hawser
