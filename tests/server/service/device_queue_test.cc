#include "server/service/device_queue.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

// Work that runs until it is told to end, and who has begun, in order.
class DeviceQueueTest : public ::testing::Test {
 protected:
  absl::Status Enter(uint64_t flow, double seconds = 1) {
    return queue_.Enter(flow, seconds, [this, flow] {
      begun_.push_back(static_cast<int>(flow));
    });
  }
  // Ends `n` of what runs, one after the other.
  void End(int n) {
    for (int i = 0; i < n; ++i) queue_.Leave();
  }

  DeviceQueue queue_{/*running=*/2, /*most_waiting=*/8};
  std::vector<int> begun_;
};

TEST_F(DeviceQueueTest, AFewRunAtOnceAndTheRestWait) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(Enter(1));
  EXPECT_THAT(begun_, ElementsAre(1, 1));
  EXPECT_EQ(queue_.waiting(), 2);
  End(1);
  EXPECT_THAT(begun_, ElementsAre(1, 1, 1));
  End(3);
  EXPECT_THAT(begun_, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(queue_.waiting(), 0);
  ASSERT_OK(Enter(1));
  EXPECT_EQ(begun_.size(), 5);
}

TEST_F(DeviceQueueTest, WhoHasHadLessGoesFirst) {
  // One has six in line when the others come.
  for (int i = 0; i < 8; ++i) ASSERT_OK(Enter(1));
  ASSERT_OK(Enter(2));
  ASSERT_OK(Enter(3));
  begun_.clear();
  End(8);
  // Two and three wait for what ran when they came, and for no more.
  EXPECT_THAT(begun_, ElementsAre(2, 3, 1, 1, 1, 1, 1, 1));
}

TEST_F(DeviceQueueTest, TurnsGoByTimeAndNotByNumber) {
  ASSERT_OK(Enter(9));
  ASSERT_OK(Enter(9));
  for (int i = 0; i < 2; ++i) ASSERT_OK(Enter(1, 4));
  for (int i = 0; i < 6; ++i) ASSERT_OK(Enter(2, 1));
  begun_.clear();
  End(8);
  // Of the device's time each has as much.
  EXPECT_THAT(begun_, ElementsAre(1, 2, 2, 2, 2, 1, 2, 2));
}

TEST_F(DeviceQueueTest, NobodySavesUpForLater) {
  for (int i = 0; i < 6; ++i) ASSERT_OK(Enter(1));
  End(2);
  // New, so it has had what the first has had by now, and then they alternate.
  for (int i = 0; i < 3; ++i) ASSERT_OK(Enter(2));
  begun_.clear();
  End(5);
  EXPECT_THAT(begun_, ElementsAre(2, 1, 2, 1, 2));
}

TEST_F(DeviceQueueTest, WhatEndsBeforeItReturnsIsNoRecursion) {
  DeviceQueue queue(1, 100000);
  int depth = 0, deepest = 0, runs = 0;
  std::function<void()> at_once = [&] {
    deepest = std::max(deepest, ++depth);
    ++runs;
    queue.Leave();
    --depth;
  };
  ASSERT_OK(queue.Enter(1, 1, [] {}));
  for (int i = 0; i < 50000; ++i) ASSERT_OK(queue.Enter(1, 1, at_once));
  EXPECT_EQ(runs, 0);
  queue.Leave();
  EXPECT_EQ(runs, 50000);
  EXPECT_EQ(deepest, 1);
}

TEST_F(DeviceQueueTest, AFullLineSaysWhenToTryAgain) {
  for (int i = 0; i < 10; ++i) ASSERT_OK(Enter(i % 3, 0.5));
  EXPECT_THAT(Enter(4, 0.5),
              StatusIs(StatusCode::kResourceExhausted,
                       "the device has 8 executions waiting, the most there "
                       "may be; try again in 2000 ms"));
  End(1);
  EXPECT_OK(Enter(4, 0.5));
}

TEST_F(DeviceQueueTest, ManyFlowsComeAndGo) {
  DeviceQueue queue(1, 10);
  ASSERT_OK(queue.Enter(0, 1, [] {}));
  int runs = 0;
  for (uint64_t flow = 1; flow < 1000; ++flow) {
    ASSERT_OK(queue.Enter(flow, 1, [&] { ++runs; }));
    ASSERT_OK(queue.Enter(flow, 1, [&] { ++runs; }));
    queue.Leave();
    queue.Leave();
  }
  EXPECT_EQ(runs, 1998);
}

TEST(DeviceQueueThreadsTest, EachRunsOnce) {
  DeviceQueue queue(3, 1 << 20);
  constexpr int kThreads = 4, kEach = 2000;
  std::atomic<int> running{0}, most{0}, runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_OK(queue.Enter(t, 1e-3, [&] {
          const int now = ++running;
          int seen = most;
          while (now > seen && !most.compare_exchange_weak(seen, now)) {
          }
          --running;
          ++runs;
          queue.Leave();
        }));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(runs, kThreads * kEach);
  EXPECT_LE(most, 3);
  EXPECT_EQ(queue.waiting(), 0);
}

}  // namespace
}  // namespace hawser::server
