#include "core/base/mutex.h"

#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

class Counter {
 public:
  void Add() {
    MutexLock lock(&mu_);
    ++count_;
    changed_.SignalAll();
  }
  bool WaitFor(int count, absl::Time deadline) {
    MutexLock lock(&mu_);
    return changed_.WaitUntil(
        &mu_, deadline, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
          return count_ >= count;
        });
  }
  void WaitForEver(int count) {
    MutexLock lock(&mu_);
    changed_.Wait(&mu_, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return count_ >= count;
    });
  }
  int count() {
    MutexLock lock(&mu_);
    return count_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
};

TEST(Mutex, ExcludesOthers) {
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10000; ++k) counter.Add();
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(counter.count(), 40000);
}

TEST(Mutex, TryLockFailsWhileHeld) {
  Mutex mu;
  MutexLock lock(&mu);
  std::thread other([&] {
    const bool locked = mu.TryLock();
    EXPECT_FALSE(locked);
    if (locked) mu.Unlock();
  });
  other.join();
}

TEST(CondVar, WaitsForTheCondition) {
  Counter counter;
  std::thread other([&] {
    for (int i = 0; i < 3; ++i) counter.Add();
  });
  counter.WaitForEver(3);
  EXPECT_GE(counter.count(), 3);
  other.join();
}

TEST(CondVar, WaitUntilSaysWhetherItHeld) {
  Counter counter;
  const absl::Time start = absl::Now();
  EXPECT_FALSE(counter.WaitFor(1, start + absl::Milliseconds(10)));
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(9));
  counter.Add();
  EXPECT_TRUE(counter.WaitFor(1, absl::InfinitePast()));
  EXPECT_TRUE(counter.WaitFor(1, absl::InfiniteFuture()));
  EXPECT_FALSE(counter.WaitFor(2, absl::InfinitePast()));
}

// Far deadlines overflow std::chrono when passed on as they are.
TEST(CondVar, FarDeadlinesDoNotReturnEarly) {
  Counter counter;
  std::thread other([&] {
    absl::SleepFor(absl::Milliseconds(10));
    counter.Add();
  });
  EXPECT_TRUE(counter.WaitFor(1, absl::Now() + absl::Hours(24 * 365 * 500)));
  other.join();
}

}  // namespace
}  // namespace hawser
