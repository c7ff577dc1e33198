#include "core/base/threads/gate.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "core/base/threads/future.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

TEST(Gate, OpenLetsInAgainAndAgain) {
  Gate gate;
  {
    const Gate::Pass outer = gate.Enter();
    const Gate::Pass inner = gate.Enter();
    EXPECT_TRUE(outer);
    EXPECT_TRUE(inner);
  }
  EXPECT_TRUE(gate.Enter());
}

TEST(Gate, ClosedLetsNobodyIn) {
  Gate gate;
  gate.Close();
  EXPECT_FALSE(gate.Enter());
  gate.Close();  // twice is once
  EXPECT_FALSE(gate.Enter());
}

TEST(Gate, CloseWaitsForThoseInside) {
  Gate gate;
  std::atomic<bool> left{false};
  Promise<int> entered;
  std::thread inside([&] {
    const Gate::Pass pass = gate.Enter();
    EXPECT_TRUE(pass);
    entered.Set(0);
    absl::SleepFor(absl::Milliseconds(20));
    left = true;
  });
  ASSERT_OK(entered.future().Await());
  gate.Close();
  EXPECT_TRUE(left);
  inside.join();
}

// The use it is for: no thread touches the owner after its destructor.
TEST(Gate, LateCallbacksFindTheOwnerGone) {
  for (int round = 0; round < 200; ++round) {
    auto gate = std::make_shared<Gate>();
    auto owner = std::make_unique<std::atomic<int>>(0);
    std::vector<std::thread> callbacks;
    for (int t = 0; t < 3; ++t) {
      callbacks.emplace_back([gate, raw = owner.get()] {
        const Gate::Pass pass = gate->Enter();
        if (pass) ++*raw;
      });
    }
    gate->Close();
    const int seen = *owner;
    *owner = -1000;
    for (std::thread& callback : callbacks) callback.join();
    EXPECT_EQ(*owner, -1000);
    EXPECT_LE(seen, 3);
  }
}

}  // namespace
}  // namespace hawser
