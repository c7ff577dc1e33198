#include "server/service/queue/device_queue.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

constexpr double kEndless = std::numeric_limits<double>::infinity();

// Work that runs until it is told to end, by a clock that the test moves; and
// what has begun, as tenant and flow, in order.
class DeviceQueueTest : public ::testing::Test {
 protected:
  explicit DeviceQueueTest(int running = 2)
      : queue_({.running = running,
                .waiting = 8,
                .waiting_of_tenant = 6,
                .now = [this] { return now_; }}) {}

  struct Entered {
    DeviceQueue::TurnPtr turn;
    std::string name;
  };

  absl::Status Enter(const std::string& tenant, uint64_t flow,
                     double seconds = 1, CancelToken cancel = CancelToken()) {
    const std::string name = absl::StrCat(tenant, flow);
    auto turn = std::make_shared<DeviceQueue::TurnPtr>();
    *turn = queue_.MakeTurn(
        {tenant, flow},
        {.seconds = seconds,
         .cancel = std::move(cancel),
         .run =
             [this, name, turn] {
               begun_.push_back(name);
               running_.push_back(*turn);
             },
         .give_up = [this](const absl::Status& why) { given_up_ = why; }});
    return queue_.Enter(*turn);
  }
  // `n` of what runs end, first come first, after so many seconds.
  void End(int n, double seconds = 1) {
    for (int i = 0; i < n; ++i) {
      Pass(seconds);
      DeviceQueue::TurnPtr turn = running_.front();
      running_.erase(running_.begin());
      queue_.Leave(turn);
    }
  }
  void Pass(double seconds) { now_ += absl::Seconds(seconds); }

  absl::Time now_ = absl::UnixEpoch();
  std::vector<std::string> begun_;
  std::vector<DeviceQueue::TurnPtr> running_;
  absl::Status given_up_;
  DeviceQueue queue_;
};

TEST_F(DeviceQueueTest, AFewRunAtOnceAndTheRestWait) {
  for (int i = 0; i < 4; ++i) ASSERT_OK(Enter("a", 1));
  EXPECT_THAT(begun_, ElementsAre("a1", "a1"));
  EXPECT_EQ(queue_.waiting(), 2);
  End(1);
  EXPECT_EQ(begun_.size(), 3);
  End(3);
  EXPECT_EQ(begun_.size(), 4);
  EXPECT_EQ(queue_.waiting(), 0);
  ASSERT_OK(Enter("a", 1));
  EXPECT_EQ(begun_.size(), 5);
}

TEST_F(DeviceQueueTest, AFlowThatHasHadLessGoesFirst) {
  for (int i = 0; i < 6; ++i) ASSERT_OK(Enter("a", 1));
  ASSERT_OK(Enter("a", 2));
  ASSERT_OK(Enter("a", 3));
  begun_.clear();
  End(8);
  EXPECT_THAT(begun_, ElementsAre("a2", "a3", "a1", "a1", "a1", "a1"));
}

TEST_F(DeviceQueueTest, TenantsComeBeforeTheirFlows) {
  // Four flows of one tenant against one of another.
  for (int i = 0; i < 2; ++i) ASSERT_OK(Enter("a", 9));
  for (uint64_t flow = 1; flow <= 4; ++flow) ASSERT_OK(Enter("a", flow));
  for (int i = 0; i < 4; ++i) ASSERT_OK(Enter("b", 1));
  begun_.clear();
  End(8);
  // As many turns of the one that came late as of the first, together.
  EXPECT_EQ(begun_.size(), 7);
  EXPECT_EQ(begun_.back(), "a4") << absl::StrJoin(begun_, " ");
}

TEST_F(DeviceQueueTest, OneMoreRunsWhereATenantHasNone) {
  ASSERT_OK(Enter("a", 1, kEndless));
  ASSERT_OK(Enter("a", 2, kEndless));
  ASSERT_OK(Enter("a", 3));
  EXPECT_EQ(begun_.size(), 2);
  ASSERT_OK(Enter("b", 1));
  EXPECT_THAT(begun_, ElementsAre("a1", "a2", "b1"));
  ASSERT_OK(Enter("b", 1));
  ASSERT_OK(Enter("c", 1));
  EXPECT_EQ(begun_.size(), 3);  // one, not two
}

class OneAtATimeTest : public DeviceQueueTest {
 protected:
  OneAtATimeTest() : DeviceQueueTest(1) {}
};

TEST_F(OneAtATimeTest, WhatIsChargedIsWhatWasMeasured) {
  ASSERT_OK(Enter("a", 9));
  // One is thought to take 20 ms, the other 100 times as long; the first takes
  // half a second, the other a millisecond.
  for (int i = 0; i < 3; ++i) ASSERT_OK(Enter("a", 1, 0.02));
  for (int i = 0; i < 3; ++i) ASSERT_OK(Enter("a", 2, 2));
  begun_.clear();
  End(1);
  while (!running_.empty()) End(1, begun_.back() == "a1" ? 0.5 : 1e-3);
  EXPECT_THAT(begun_, ElementsAre("a1", "a2", "a2", "a2", "a1", "a1"));
}

TEST_F(DeviceQueueTest, ALoopWithoutEndDoesNotStarveItsFlow) {
  ASSERT_OK(Enter("a", 1, kEndless));
  End(1, 0.01);
  // Its next step is not behind all that others have in line.
  ASSERT_OK(Enter("a", 9));
  ASSERT_OK(Enter("a", 9));
  for (int i = 0; i < 4; ++i) ASSERT_OK(Enter("a", 2, 0.1));
  ASSERT_OK(Enter("a", 1, kEndless));
  begun_.clear();
  End(2, 0.1);
  EXPECT_THAT(begun_, ::testing::Contains("a1"));
}

TEST_F(DeviceQueueTest, WhatIsCancelledLeavesTheLineWithWhatItHolds) {
  ASSERT_OK(Enter("a", 1));
  ASSERT_OK(Enter("a", 1));
  const CancelToken cancel = CancelToken::WithFlag();
  ASSERT_OK(Enter("a", 1, 1, cancel));
  EXPECT_EQ(queue_.waiting(), 1);
  cancel.Cancel();
  for (int i = 0; i < 5000 && queue_.waiting() > 0; ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(queue_.waiting(), 0);
  End(2);
  EXPECT_EQ(begun_.size(), 2);  // it never ran
  EXPECT_THAT(given_up_, StatusIs(StatusCode::kCancelled, "cancel"));
}

TEST_F(DeviceQueueTest, AFullLineSaysWhoseLimitItIsAndWhenToTryAgain) {
  for (int i = 0; i < 8; ++i) ASSERT_OK(Enter("a", i % 3, 0.5));
  EXPECT_THAT(Enter("a", 4, 0.5),
              StatusIs(StatusCode::kResourceExhausted,
                       "tenant a has 6 executions waiting, the most one tenant "
                       "may; try again in 1500 ms"));
  ASSERT_OK(Enter("b", 4, kEndless));  // runs
  ASSERT_OK(Enter("b", 4, kEndless));
  ASSERT_OK(Enter("b", 4, 0.5));
  EXPECT_THAT(Enter("c", 4, 0.5),
              StatusIs(StatusCode::kResourceExhausted,
                       "the device has 8 executions waiting, the most there "
                       "may be; how long they take is not known"));
}

TEST_F(DeviceQueueTest, WhatTakesLongerThanTheLimitIsEnded) {
  const CancelToken cancel = CancelToken::WithFlag();
  ASSERT_OK(Enter("a", 1, kEndless, cancel));
  Pass(10);
  queue_.EndLongerThan(absl::Seconds(20));
  EXPECT_OK(cancel.Check());
  EXPECT_OK(running_[0]->ended());
  Pass(11);
  queue_.EndLongerThan(absl::Seconds(20));
  EXPECT_THAT(cancel.Check(), StatusIs(StatusCode::kCancelled, ""));
  EXPECT_THAT(running_[0]->ended(),
              StatusIs(StatusCode::kResourceExhausted,
                       "more than one may (--run_limit=20s)"));
}

TEST_F(DeviceQueueTest, ALoopMakesWayBetweenItsTurns) {
  DeviceQueue queue({.running = 1});
  std::atomic<bool> other_ran{false}, stop{false};
  std::atomic<int> turns{0};
  DeviceQueue::TurnPtr loop, other;
  std::thread device;
  loop = queue.MakeTurn({"a", 1}, {.seconds = kEndless, .run = [&] {
                                     device = std::thread([&] {
                                       while (!stop) {
                                         ++turns;
                                         if (loop->others_wait())
                                           loop->MakeWay();
                                       }
                                       queue.Leave(loop);
                                     });
                                   }});
  ASSERT_OK(queue.Enter(loop));
  other = queue.MakeTurn({"a", 2},
                         {.seconds = 1, .run = [&] { other_ran = true; }});
  ASSERT_OK(queue.Enter(other));
  while (!other_ran) std::this_thread::yield();
  // The loop waits for as long as the other has the device.
  absl::SleepFor(absl::Milliseconds(20));
  const int before = turns;
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(turns, before);
  queue.Leave(other);
  while (turns == before) std::this_thread::yield();
  stop = true;
  device.join();
}

TEST_F(DeviceQueueTest, ALoopMakesWaySoonerForShorterWork) {
  struct Case {
    double waits, early, late;  // what waits, two moments of the loop's turn
  };
  for (const auto& [waits, early, late] :
       {Case{kEndless, 0.0099, 0.0101}, Case{0.011, 0.0099, 0.0101}}) {
    DeviceQueue queue({.running = 1, .now = [this] { return now_; }});
    const auto loop =
        queue.MakeTurn({"a", 1}, {.seconds = kEndless, .run = [] {}});
    const auto other =
        queue.MakeTurn({"a", 2}, {.seconds = waits, .run = [] {}});
    ASSERT_OK(queue.Enter(loop));
    ASSERT_OK(queue.Enter(other));
    Pass(early);
    EXPECT_FALSE(loop->others_wait()) << waits;
    Pass(late - early);
    EXPECT_TRUE(loop->others_wait()) << waits;
    queue.Leave(loop);
    EXPECT_FALSE(other->others_wait()) << waits;
    queue.Leave(other);
  }
}

// The line's first is of a flow of which the loop runs, so it waits.
TEST_F(DeviceQueueTest, ALoopMakesWaySoonerForShorterWorkOfItsFlow) {
  for (const auto& [waits, slice] :
       {std::pair(0.003, 0.003), std::pair(1e-5, 0.001)}) {
    DeviceQueue queue({.running = 1, .now = [this] { return now_; }});
    const auto loop =
        queue.MakeTurn({"a", 1}, {.seconds = kEndless, .run = [] {}});
    ASSERT_OK(queue.Enter(loop));
    ASSERT_OK(queue.Enter(
        queue.MakeTurn({"a", 1}, {.seconds = waits, .run = [] {}})));
    EXPECT_EQ(queue.waiting(), 1);
    Pass(slice - 1e-4);
    EXPECT_FALSE(loop->others_wait()) << waits;
    Pass(2e-4);
    EXPECT_TRUE(loop->others_wait()) << waits;
  }
}

TEST_F(DeviceQueueTest, BriefWorkOfAnotherFlowRunsAtOnceAndALoopMakesWay) {
  DeviceQueue queue({.running = 1, .now = [this] { return now_; }});
  const auto loop =
      queue.MakeTurn({"a", 1}, {.seconds = kEndless, .run = [] {}});
  int ran = 0;
  const auto brief = [&] {
    return queue.MakeTurn({"a", 2}, {.seconds = 0.003, .run = [&] { ++ran; }});
  };
  const auto first = brief(), second = brief();
  ASSERT_OK(queue.Enter(loop));
  ASSERT_OK(queue.Enter(first));
  EXPECT_EQ(ran, 1);
  ASSERT_OK(queue.Enter(second));
  EXPECT_EQ(ran, 1);  // one of a flow, not two
  Pass(0.0009);
  EXPECT_FALSE(loop->others_wait());
  Pass(0.0002);
  EXPECT_TRUE(loop->others_wait());
  EXPECT_FALSE(first->others_wait());
  queue.Leave(first);
  EXPECT_EQ(ran, 2);
}

TEST_F(DeviceQueueTest, APausedLoopThatIsCancelledGoesOnToItsEnd) {
  DeviceQueue queue({.running = 1});
  const CancelToken cancel = CancelToken::WithFlag();
  std::thread device;
  DeviceQueue::TurnPtr loop, other;
  std::atomic<bool> done{false};
  loop = queue.MakeTurn({"a", 1},
                        {.seconds = kEndless, .cancel = cancel, .run = [&] {
                           device = std::thread([&] {
                             while (cancel.Check().ok()) {
                               if (loop->others_wait()) loop->MakeWay();
                             }
                             done = true;
                             queue.Leave(loop);
                           });
                         }});
  ASSERT_OK(queue.Enter(loop));
  other = queue.MakeTurn({"a", 2}, {.seconds = 1, .run = [] {}});
  ASSERT_OK(queue.Enter(other));
  absl::SleepFor(absl::Milliseconds(30));
  cancel.Cancel();
  device.join();
  EXPECT_TRUE(done);
  queue.Leave(other);
  EXPECT_EQ(queue.waiting(), 0);
}

TEST_F(DeviceQueueTest, WhatEndsBeforeItReturnsIsNoRecursion) {
  DeviceQueue queue(
      {.running = 1, .waiting = 100000, .waiting_of_tenant = 100000});
  int depth = 0, deepest = 0, runs = 0;
  const auto enter = [&](std::function<void(const DeviceQueue::TurnPtr&)> run) {
    auto turn = std::make_shared<DeviceQueue::TurnPtr>();
    *turn = queue.MakeTurn({"a", 1},
                           {.seconds = 1, .run = [run, turn] { run(*turn); }});
    ASSERT_OK(queue.Enter(*turn));
  };
  DeviceQueue::TurnPtr first;
  enter([&](const DeviceQueue::TurnPtr& turn) { first = turn; });
  for (int i = 0; i < 50000; ++i) {
    enter([&](const DeviceQueue::TurnPtr& turn) {
      deepest = std::max(deepest, ++depth);
      ++runs;
      queue.Leave(turn);
      --depth;
    });
  }
  EXPECT_EQ(runs, 0);
  queue.Leave(first);
  EXPECT_EQ(runs, 50000);
  EXPECT_EQ(deepest, 1);
}

// A run that was cancelled may look at its queue once more when the server is
// gone.
TEST(DeviceQueueLifeTest, WhatARunIsGivenKeepsTheQueue) {
  auto queue = std::make_shared<DeviceQueue>(DeviceQueue::Options{});
  bool runs = false;
  DeviceQueue::TurnPtr turn = queue->MakeTurn(
      {"a", 1}, {.seconds = 1, .run = [&] { runs = true; }, .give_up = {}});
  ASSERT_OK(queue->Enter(turn));
  EXPECT_TRUE(runs);
  std::shared_ptr<runtime::Sharing> sharing =
      DeviceQueue::SharingOf(queue, std::move(turn));
  const std::weak_ptr<DeviceQueue> kept = queue;
  queue.reset();
  EXPECT_FALSE(kept.expired());
  EXPECT_FALSE(sharing->others_wait());
  sharing.reset();
  EXPECT_TRUE(kept.expired());
}

TEST(DeviceQueueThreadsTest, EachRunsOnce) {
  DeviceQueue queue(
      {.running = 3, .waiting = 1 << 20, .waiting_of_tenant = 1 << 20});
  constexpr int kThreads = 4, kEach = 2000;
  std::atomic<int> running{0}, most{0}, runs{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        auto turn = std::make_shared<DeviceQueue::TurnPtr>();
        *turn = queue.MakeTurn(
            {"a", static_cast<uint64_t>(t)},
            {.seconds = 1e-3, .run = [&, turn] {
               const int now = ++running;
               int seen = most;
               while (now > seen && !most.compare_exchange_weak(seen, now)) {
               }
               --running;
               ++runs;
               queue.Leave(*turn);
             }});
        EXPECT_OK(queue.Enter(*turn));
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
