// Sessions over links and servers that fail: every result is what this
// machine's CPU computes, or an error that a fault accounts for, and nothing is
// left behind.
#include <string>
#include <thread>
#include <vector>

#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/schedules/programs.h"
#include "tests/schedules/schedules.h"
#include "tests/schedules/world.h"

namespace hawser {
namespace {

using ClientPtr = std::shared_ptr<runtime::Client>;

// Up to three programs at once on one client.
absl::Status RunPrograms(const ClientPtr& client, uint64_t seed,
                         const Explained& explained) {
  Random random(seed ^ 0x5eed);
  std::vector<absl::Status> statuses(random.Between(1, 3));
  const int steps = static_cast<int>(random.Between(8, 30));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < statuses.size(); ++i) {
    threads.emplace_back([&, i] {
      RandomProgram program(client.get(), seed * 4 + i, explained);
      statuses[i] = program.Run(steps);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) HAWSER_RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

absl::Status RunRemote(uint64_t seed) {
  World world(seed);
  ClientPtr client = world.Connect();
  const auto explained = [&](absl::string_view step,
                             const absl::Status& error) {
    if (!absl::IsUnavailable(error)) return false;
    // A Call is not repeated here: its caller may do that.
    return !world.gentle() ||
           (step == "call" && world.plan().hit(CallKind::kCall) > 0);
  };
  HAWSER_RETURN_IF_ERROR(RunPrograms(client, seed, explained));
  client.reset();
  return world.CheckNothingIsLeft();
}

absl::Status RunWithFallback(uint64_t seed) {
  World world(seed);
  ClientPtr client = world.ConnectWithFallback();
  const auto none = [](absl::string_view, const absl::Status&) {
    return false;
  };
  HAWSER_RETURN_IF_ERROR(RunPrograms(client, seed, none));
  client.reset();
  return world.CheckNothingIsLeft();
}

// In blocks, which a test runner may spread.
class SessionSchedules : public testing::TestWithParam<int> {
 protected:
  // Its threads stay.
  static void SetUpTestSuite() { Reference::Shared(); }
  static constexpr int kBlock = 50;
  uint64_t first() const { return static_cast<uint64_t>(GetParam()) * kBlock; }
};

TEST_P(SessionSchedules, RemoteResultsAreRightOrExplained) {
  RunSchedules(first(), kBlock, RunRemote);
}

TEST_P(SessionSchedules, FallbackResultsAreRight) {
  RunSchedules(first() + 10000, kBlock, RunWithFallback);
}

INSTANTIATE_TEST_SUITE_P(Blocks, SessionSchedules, testing::Range(0, 10));

}  // namespace
}  // namespace hawser
