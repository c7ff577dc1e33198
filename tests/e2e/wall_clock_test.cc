// A wall clock that jumps two hours either way, as by NTP or when a virtual
// machine resumes, changes no deadline, lease or alarm. The whole process sees
// the clock of this file.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/cancel.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "gtest/gtest.h"
#include "server/session/session_table.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/loopback.h"
#include "tests/testing/sample_modules.h"

namespace {

std::atomic<int64_t> jump_seconds{0};

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* time) {
  const long result = syscall(SYS_clock_gettime, id, time);
  if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) {
    time->tv_sec += jump_seconds;
  }
  return static_cast<int>(result);
}

extern "C" int gettimeofday(timeval* time, void*) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

namespace hawser {
namespace {

constexpr absl::Duration kJump = absl::Hours(2);
constexpr absl::Duration kPatience = absl::Seconds(30);

// Hours forward or back.
class WallClockTest : public ::testing::TestWithParam<int> {
 protected:
  ~WallClockTest() override { jump_seconds = 0; }
  void Jump() {
    jump_seconds = GetParam() * absl::ToInt64Seconds(absl::Hours(1));
  }
};

TEST_P(WallClockTest, TheClockOfThisTestIsSeen) {
  const absl::Time before = absl::Now(), steady = SteadyNow();
  Jump();
  EXPECT_GT(absl::AbsDuration(absl::Now() - before), kJump / 2);
  EXPECT_LT(absl::AbsDuration(SteadyNow() - steady), kPatience);
}

TEST_P(WallClockTest, ADeadlineComesWhenItIsDue) {
  const absl::Time start = SteadyNow();
  const CancelToken soon(start + absl::Milliseconds(200));
  const CancelToken later(start + absl::Minutes(30));
  Jump();
  EXPECT_OK(later.Check());
  while (soon.Check().ok()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(200));
  EXPECT_LT(SteadyNow() - start, kPatience);
}

TEST_P(WallClockTest, AnAlarmRingsInTime) {
  Alarm alarm;
  std::atomic<bool> rang{false}, too_soon{false};
  const absl::Time start = SteadyNow();
  alarm.At(start + absl::Hours(1), [&] { too_soon = true; });
  alarm.At(start + absl::Milliseconds(200), [&] { rang = true; });
  Jump();
  while (!rang && SteadyNow() < start + kPatience) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_TRUE(rang);
  EXPECT_GE(SteadyNow() - start, absl::Milliseconds(200));
  EXPECT_FALSE(too_soon);
}

TEST_P(WallClockTest, ALeaseLastsAsLongAsItIs) {
  server::SessionTable table({.lease = absl::Seconds(60)});
  ASSERT_OK_AND_ASSIGN(const auto session, table.Open("a", "test"));
  Jump();
  table.Sweep();
  EXPECT_EQ(table.size(), 1);
}

TEST_P(WallClockTest, StepsWithDeadlinesGoOn) {
  ASSERT_OK_AND_ASSIGN(const auto server, LoopbackServer::Start());
  const auto client = server->Connect();
  const auto step = [&](absl::Duration timeout) -> absl::Status {
    const runtime::CallOptions call{.cancel =
                                        CancelToken(SteadyNow() + timeout)};
    HAWSER_ASSIGN_OR_RETURN(
        const auto chain,
        client->Compile(std::make_shared<const Module>(ChainModule(4)), {},
                        call));
    HAWSER_ASSIGN_OR_RETURN(
        const auto results,
        chain->Execute({Literal::Zeros(chain->signature().parameters[0])},
                       {.call = call}));
    return results[0]->Fetch(call).Await().status();
  };
  ASSERT_OK(step(kPatience));
  Jump();
  // The server sweeps meanwhile.
  for (int i = 0; i < 15; ++i) {
    ASSERT_OK(step(kPatience));
    absl::SleepFor(absl::Milliseconds(100));
  }
  EXPECT_EQ(server->sessions(), 1);
}

INSTANTIATE_TEST_SUITE_P(Hours, WallClockTest, ::testing::Values(2, -2),
                         [](const auto& info) {
                           return info.param > 0 ? "Forward" : "Back";
                         });

}  // namespace
}  // namespace hawser
