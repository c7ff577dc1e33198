#include "tests/schedules/schedules.h"

#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/base/log.h"
#include "core/base/threads/alarm.h"
#include "core/runtime/drain.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

// Schedules mostly wait for ticks and backoffs, so several share a core.
constexpr int kAtOnce = 12;

int Threads() {
  namespace fs = std::filesystem;
  return static_cast<int>(
      std::distance(fs::directory_iterator("/proc/self/task"), {}));
}

}  // namespace

bool Eventually(const std::function<bool()>& holds) {
  const absl::Time deadline = absl::Now() + absl::Seconds(60);
  while (!holds()) {
    if (absl::Now() > deadline) return holds();
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

void RunSchedules(uint64_t first, int count,
                  const std::function<absl::Status(uint64_t seed)>& schedule) {
  SetMinLogSeverity(LogSeverity::kError);  // links break all the time here
  uint64_t last = first + static_cast<uint64_t>(count);
  uint64_t only;
  const char* wanted = getenv("HAWSER_SCHEDULE");
  if (wanted != nullptr && absl::SimpleAtoi(wanted, &only)) {
    if (only < first || only >= last) GTEST_SKIP() << "another one is wanted";
    first = only;
    last = only + 1;
  }
  // The threads of the process, which stay.
  Alarm::OfProcess();
  runtime::DrainClient(true, [] {});
  const int before = Threads();
  std::atomic<uint64_t> next{first};
  std::vector<std::thread> threads;
  for (int i = 0; i < kAtOnce; ++i) {
    threads.emplace_back([&] {
      for (uint64_t seed; (seed = next++) < last;) {
        const absl::Status status = schedule(seed);
        if (status.ok()) continue;
        ADD_FAILURE() << status.ToString() << "\n  again: HAWSER_SCHEDULE="
                      << seed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Eventually([&] { return Threads() <= before; }))
      << Threads() << " threads are alive, before there were " << before;
}

}  // namespace hawser
