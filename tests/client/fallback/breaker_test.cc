#include "client/fallback/breaker.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/threads/future.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

const absl::Status kGone = absl::UnavailableError("gone");

struct Script {
  std::atomic<bool> back{false};
  std::atomic<int> probes{0}, opened{0};
  Breaker::Options Options(absl::Duration first, absl::Duration longest) {
    return {.probe_first = first,
            .probe_longest = longest,
            .probe =
                [this] {
                  ++probes;
                  return back ? absl::OkStatus() : kGone;
                },
            .on_open = [this](const absl::Status&) { ++opened; }};
  }
};

template <typename Condition>
bool Eventually(Condition condition) {
  const absl::Time patience = absl::Now() + absl::Seconds(30);
  while (!condition()) {
    if (absl::Now() > patience) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

TEST(Breaker, OpensOnceHoweverManyAreHit) {
  Script script;
  Breaker breaker(
      script.Options(absl::InfiniteDuration(), absl::InfiniteDuration()));
  EXPECT_FALSE(Breaker::IsOpen(breaker.epoch()));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] { breaker.Trip(0, kGone); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(breaker.epoch(), 1u);
  EXPECT_TRUE(Breaker::IsOpen(breaker.epoch()));
  EXPECT_EQ(script.opened, 1);
  EXPECT_EQ(script.probes, 0);
}

TEST(Breaker, ClosesWhenTheProbeSucceeds) {
  Script script;
  Breaker breaker(
      script.Options(absl::Milliseconds(1), absl::Milliseconds(2)));
  breaker.Trip(0, kGone);
  ASSERT_TRUE(Eventually([&] { return script.probes >= 3; }));
  EXPECT_EQ(breaker.epoch(), 1u);
  script.back = true;
  ASSERT_TRUE(Eventually([&] { return breaker.epoch() == 2; }));
  const int probes = script.probes;
  absl::SleepFor(absl::Milliseconds(20));
  EXPECT_EQ(script.probes, probes);  // a closed one is not probed
}

TEST(Breaker, SaysThatItClosedOnceItIs) {
  Script script;
  script.back = true;
  std::atomic<uint64_t> seen{0};
  Breaker* breaker = nullptr;
  auto options = script.Options(absl::Milliseconds(1), absl::Milliseconds(1));
  options.on_close = [&] { seen = breaker->epoch(); };
  Breaker real(std::move(options));
  breaker = &real;
  real.Trip(0, kGone);
  ASSERT_TRUE(real.Closed().Await().ok());
  EXPECT_EQ(seen, 2u);
}

TEST(Breaker, LateNewsOfAnOldEpochChangesNothing) {
  Script script;
  script.back = true;
  Breaker breaker(
      script.Options(absl::Milliseconds(1), absl::Milliseconds(1)));
  breaker.Trip(0, kGone);
  ASSERT_TRUE(Eventually([&] { return breaker.epoch() == 2; }));
  breaker.Trip(0, kGone);
  breaker.Trip(1, kGone);
  EXPECT_EQ(breaker.epoch(), 2u);
  breaker.Trip(2, kGone);
  EXPECT_EQ(script.opened, 2);
}

TEST(Breaker, WaitsTwiceAsLongEachTime) {
  Script script;
  Breaker breaker(
      script.Options(absl::Milliseconds(4), absl::Milliseconds(500)));
  const absl::Time start = absl::Now();
  breaker.Trip(0, kGone);
  absl::SleepFor(absl::Milliseconds(100));
  // After 4, 12, 28, 60, 124, ... ms.
  const int probes = script.probes;
  EXPECT_LE(absl::Milliseconds(4 * ((1 << probes) - 1)), absl::Now() - start);
}

TEST(Breaker, NoWaitAtAllStillLeavesTheCoreAlone) {
  Script script;
  Breaker breaker(script.Options(absl::ZeroDuration(), absl::ZeroDuration()));
  const absl::Time start = absl::Now();
  breaker.Trip(0, kGone);
  absl::SleepFor(absl::Milliseconds(50));
  const int probes = script.probes;
  EXPECT_LE(absl::Milliseconds(1) * probes, absl::Now() - start);
}

TEST(Breaker, DestructorWaitsForAProbeInProgress) {
  std::atomic<bool> finished{false};
  Promise<int> started;
  {
    Breaker breaker({.probe_first = absl::Milliseconds(1),
                     .probe_longest = absl::Milliseconds(1),
                     .probe =
                         [&] {
                           started.Set(0);
                           absl::SleepFor(absl::Milliseconds(20));
                           finished = true;
                           return kGone;
                         },
                     .on_open = nullptr});
    breaker.Trip(0, kGone);
    ASSERT_OK(started.future().Await());
  }
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace hawser
