#include "server/rpc/inline_time.h"

#include <thread>

#include "gtest/gtest.h"

namespace hawser::server {
namespace {

void Compute(absl::Duration time) {
  const InlineTime::Measure measure;
  const absl::Time end = SteadyNow() + time;
  while (SteadyNow() < end) {
  }
}

TEST(InlineTime, SeveralFlowsShareAnAllowance) {
  // All of it is of one thread, which other tests need as it was.
  std::thread([] {
    // A thread that is stopped for long between two steps has its allowance
    // back, or is taken to be alone: then once more.
    bool left = true;
    for (int i = 0; left && i < 20; ++i) {
      InlineTime::BeginEvent();
      InlineTime::Left(1);
      Compute(10 * InlineTime::kMost);
      InlineTime::BeginEvent();
      left = InlineTime::Left(2);
    }
    EXPECT_FALSE(left);
  }).join();
}

}  // namespace
}  // namespace hawser::server
