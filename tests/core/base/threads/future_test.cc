#include "core/base/threads/future.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(Future, ReadyFromTheStart) {
  const Future<int> f(7);
  EXPECT_TRUE(f.valid());
  EXPECT_TRUE(f.ready());
  EXPECT_EQ(*f.Await(absl::InfinitePast()), 7);
  EXPECT_FALSE(Future<int>().valid());
}

TEST(Future, CarriesErrors) {
  const Future<int> f(InvalidArgument("bad shape"));
  EXPECT_THAT(f.Await(), StatusIs(StatusCode::kInvalidArgument, "bad shape"));
}

TEST(Future, ManyThreadsAwaitOneValue) {
  Promise<int> promise;
  std::atomic<int> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&sum, f = promise.future()] {
      for (int k = 0; k < 2; ++k) sum += *f.Await();  // the value stays
    });
  }
  EXPECT_TRUE(promise.Set(10));
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 80);
}

TEST(Future, AwaitEndsAtTheDeadlineAndTheWorkGoesOn) {
  Promise<int> promise;
  const Future<int> f = promise.future();
  const absl::Time start = absl::Now();
  EXPECT_THAT(f.Await(start + absl::Milliseconds(20)),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(19));
  EXPECT_FALSE(f.ready());
  promise.Set(1);
  EXPECT_EQ(*f.Await(start), 1);
}

TEST(Promise, OnlyTheFirstValueCounts) {
  Promise<int> promise;
  EXPECT_TRUE(promise.Set(1));
  EXPECT_FALSE(promise.Set(2));
  EXPECT_EQ(*promise.future().Await(), 1);
}

TEST(Promise, AbandonmentCompletes) {
  Future<int> dead;
  {
    Promise<int> promise;
    dead = promise.future();
    EXPECT_FALSE(dead.ready());
  }
  EXPECT_THAT(dead.Await(), StatusIs(StatusCode::kCancelled, "abandoned"));

  Promise<int> overwritten;
  const Future<int> f = overwritten.future();
  overwritten = Promise<int>();
  EXPECT_THAT(f.Await(), StatusIs(StatusCode::kCancelled, "abandoned"));
}

TEST(Promise, MovingKeepsTheFuture) {
  Promise<int> a;
  const Future<int> f = a.future();
  Promise<int> b = std::move(a);
  EXPECT_FALSE(f.ready());
  b.Set(3);
  EXPECT_EQ(*f.Await(), 3);
}

TEST(Future, OnReadyRunsOnceOnTheCompletingThread) {
  Promise<int> promise;
  std::vector<int> seen;
  std::thread::id where;
  promise.future().OnReady([&](const absl::StatusOr<int>& v) {
    seen.push_back(*v);
    where = std::this_thread::get_id();
  });
  EXPECT_TRUE(seen.empty());
  std::thread completer([&] { promise.Set(5); });
  const std::thread::id completing = completer.get_id();
  completer.join();
  EXPECT_EQ(seen, std::vector<int>({5}));
  EXPECT_EQ(where, completing);
  promise.future().OnReady(
      [&](const absl::StatusOr<int>& v) { seen.push_back(*v + 1); });
  EXPECT_EQ(seen, std::vector<int>({5, 6}));
}

// A callback may look at the future it belongs to, and add another.
TEST(Future, CallbacksRunWithoutTheLock) {
  Promise<int> promise;
  const Future<int> f = promise.future();
  int inner = 0;
  f.OnReady([&](const absl::StatusOr<int>&) {
    EXPECT_TRUE(f.ready());
    f.OnReady([&](const absl::StatusOr<int>& v) { inner = *v; });
  });
  promise.Set(9);
  EXPECT_EQ(inner, 9);
}

// The waiter wakes before Set has run the callbacks, and owns the promise.
TEST(Promise, MayBeDestroyedByWhoeverWaitedForIt) {
  for (int i = 0; i < 200; ++i) {
    auto promise = std::make_unique<Promise<int>>();
    const Future<int> f = promise->future();
    std::atomic<int> seen{0};
    for (int k = 0; k < 3; ++k) {
      f.OnReady([&seen](const absl::StatusOr<int>& v) { seen += *v; });
    }
    std::thread setter([p = promise.get()] { p->Set(1); });
    EXPECT_EQ(*f.Await(), 1);
    promise.reset();
    setter.join();
    EXPECT_EQ(seen, 3);
  }
}

TEST(Future, HoldsMoveAndSharedTypes) {
  Promise<std::shared_ptr<int>> promise;
  promise.Set(std::make_shared<int>(4));
  EXPECT_EQ(**promise.future().Await(), 4);
}

}  // namespace
}  // namespace hawser
