#include "core/base/threads/alarm.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/threads/future.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

constexpr absl::Duration kSoon = absl::Milliseconds(20);

// Waits for what `alarm` was given so far and is due.
void Drain(Alarm* alarm) {
  auto promise = std::make_shared<Promise<int>>();
  Future<int> done = promise->future();
  alarm->Soon([promise] { promise->Set(0); });
  ASSERT_OK(done.Await(absl::Now() + absl::Seconds(30)));
}

TEST(Alarm, RunsInOrderOfTimeThenOfCalls) {
  std::vector<int> order;
  const absl::Time now = absl::Now();
  Promise<int> last;
  Alarm alarm;  // dies first, so that nothing its functions use is gone
  alarm.At(now + 3 * kSoon, [&] {
    order.push_back(3);
    last.Set(0);
  });
  alarm.At(now + kSoon, [&] { order.push_back(1); });
  alarm.At(now + kSoon, [&] { order.push_back(2); });
  alarm.At(absl::InfinitePast(), [&] { order.push_back(0); });
  ASSERT_OK(last.future().Await());
  EXPECT_GE(absl::Now(), now + 3 * kSoon);
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3));
}

TEST(Alarm, AnEarlierTimeOvertakesTheOneSleptFor) {
  Promise<int> called;
  Alarm alarm;
  alarm.At(absl::Now() + absl::Hours(1), [] { FAIL() << "an hour early"; });
  Drain(&alarm);  // asleep for an hour now
  alarm.At(absl::Now() + kSoon, [&] { called.Set(1); });
  EXPECT_OK(called.future().Await(absl::Now() + absl::Seconds(30)));
}

// The sleep is not shortened by a cancelled timer, nor is a later one lost.
TEST(Alarm, CancelledTimersLeaveTheRestInPlace) {
  std::atomic<int> ran{0};
  Promise<int> called;
  Alarm alarm;
  const auto first = alarm.At(absl::Now() + kSoon, [&] { ran += 100; });
  EXPECT_TRUE(alarm.Cancel(first));
  EXPECT_FALSE(alarm.Cancel(first));
  alarm.At(absl::Now() + 2 * kSoon, [&] { called.Set(++ran); });
  const absl::StatusOr<int> count = called.future().Await();
  ASSERT_OK(count);
  EXPECT_EQ(*count, 1);
}

TEST(Alarm, CancelIsTooLateOnceStarted) {
  Promise<int> started, finish;
  Alarm alarm;
  const auto id = alarm.Soon([&] {
    started.Set(0);
    (void)finish.future().Await();
  });
  ASSERT_OK(started.future().Await());
  EXPECT_FALSE(alarm.Cancel(id));
  finish.Set(0);
}

TEST(Alarm, FunctionsMayUseTheAlarm) {
  Promise<int> second;
  Alarm alarm;
  alarm.Soon([&] {
    const auto never =
        alarm.At(absl::InfiniteFuture(), [] { FAIL() << "the end of time"; });
    EXPECT_TRUE(alarm.Cancel(never));
    alarm.Soon([&] { second.Set(2); });
  });
  EXPECT_OK(second.future().Await(absl::Now() + absl::Seconds(30)));
}

TEST(Alarm, DestructorDropsWhatHasNotStartedAndWaitsForWhatHas) {
  auto kept = std::make_shared<int>(0);
  std::atomic<bool> finished{false};
  {
    Promise<int> started;
    Alarm alarm;
    alarm.At(absl::Now() + absl::Hours(1), [kept] { FAIL(); });
    alarm.Soon([&] {
      started.Set(0);
      absl::SleepFor(kSoon);
      alarm.Soon([kept] { FAIL() << "begun after the end"; });
      finished = true;
    });
    ASSERT_OK(started.future().Await());
  }
  EXPECT_TRUE(finished);
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(Alarm, UnusedHasNoThreadToWaitFor) { Alarm alarm; }

// The caller's code runs on alarm threads, and may drop their last owner.
TEST(Alarm, DestroyedByItsOwnFunction) {
  auto alarm = std::make_unique<Alarm>();
  auto kept = std::make_shared<int>(0);
  alarm->At(absl::Now() + absl::Hours(1), [kept] { FAIL(); });
  Promise<int> done;
  alarm->Soon([&] {
    alarm.reset();
    done.Set(kept.use_count());
  });
  const absl::StatusOr<int> owners =
      done.future().Await(absl::Now() + absl::Seconds(30));
  ASSERT_OK(owners);
  EXPECT_EQ(*owners, 1);
}

TEST(Alarm, ManyThreadsSetAndCancel) {
  constexpr int kEach = 500;
  std::atomic<int> ran{0}, cancelled{0};
  Promise<int> last;
  Alarm alarm;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const auto id =
            alarm.At(absl::Now() + absl::Microseconds(50 * ((i + t) % 7)),
                     [&] { ++ran; });
        if (i % 2 == 0 && alarm.Cancel(id)) ++cancelled;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  alarm.At(absl::Now() + kSoon, [&] { last.Set(0); });
  ASSERT_OK(last.future().Await());
  EXPECT_EQ(ran + cancelled, 4 * kEach);
}

}  // namespace
}  // namespace hawser
