// Futures whose waiting threads do the work that completes them.
#include "core/base/threads/progress.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/threads/future.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

// Runs `work` once for the thread that waits first; others wait plainly.
class OneShot final : public ProgressEngine {
 public:
  explicit OneShot(std::function<void()> work) : work_(std::move(work)) {}

  void Begin() override { ++waiting; }
  void End(int count) override { waiting -= count; }
  void Advance(const std::function<bool()>& ready, absl::Time) override {
    if (ready() || begun_.exchange(true)) return;
    worked_on = std::this_thread::get_id();
    work_();
  }

  std::atomic<int> waiting{0};
  std::thread::id worked_on;

 private:
  const std::function<void()> work_;
  std::atomic<bool> begun_{false};
};

TEST(Progress, WhoeverWaitsDoesTheWork) {
  Promise<int> promise;
  auto engine = std::make_shared<OneShot>([&] { promise.Set(7); });
  ProgressEngine::Offer(engine);
  const Future<int> future = promise.future();
  EXPECT_EQ(future.Await().value(), 7);
  EXPECT_EQ(engine->worked_on, std::this_thread::get_id());
  EXPECT_EQ(engine->waiting, 0);
}

TEST(Progress, WhatIsThereNeedsNoWork) {
  auto engine = std::make_shared<OneShot>([] { FAIL() << "nothing to do"; });
  ProgressEngine::Offer(engine);
  EXPECT_EQ(Future<int>(3).Await().value(), 3);
  EXPECT_EQ(engine->waiting, 0);
}

TEST(Progress, AWaitThatIsOverCountsNoMore) {
  Promise<int> promise;
  auto engine = std::make_shared<OneShot>([] {});
  ProgressEngine::Offer(engine);
  EXPECT_THAT(promise.future().Await(absl::Now() + absl::Milliseconds(1)),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  EXPECT_EQ(engine->waiting, 0);
  promise.Set(1);
  EXPECT_EQ(engine->waiting, 0) << "and is not taken off twice";
}

TEST(Progress, ManyWaitAndOneWorks) {
  Promise<int> promise;
  OneShot* all = nullptr;
  auto engine = std::make_shared<OneShot>([&] {
    while (all->waiting < 4) std::this_thread::yield();
    promise.Set(5);
  });
  all = engine.get();
  ProgressEngine::Offer(engine);
  std::vector<std::thread> threads;
  std::atomic<int> sum{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, future = promise.future()] {
      const auto value = future.Await();
      sum += value.ok() ? *value : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 20);
  EXPECT_EQ(engine->waiting, 0);
}

TEST(Progress, AnEngineThatIsGoneIsNotUsed) {
  ProgressEngine::Offer(std::make_shared<OneShot>([] {}));
  EXPECT_EQ(ProgressEngine::Current(), nullptr);
  Promise<int> promise;
  std::thread other([&] { promise.Set(2); });
  EXPECT_EQ(promise.future().Await().value(), 2);
  other.join();
}

}  // namespace
}  // namespace hawser
