// Loops that are cut by their deadlines, beside long work, in four processes:
// another client's work goes on, and the server is as good afterwards. Once two
// such turns took both slots of the device for good.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser {
namespace {

using testing::Process;

// What does not come back by then never does.
constexpr absl::Duration kStuck = absl::Minutes(2);

class StallTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = testing::StartHawserd({"--device=cpu"}, &address_);
    ASSERT_OK(server);
    server_.push_back(*std::move(server));
    auto client = Connect({.servers = {address_}, .fallback = Client()});
    ASSERT_OK(client);
    client_ = *client;
  }

  void Start(const std::string& how, int seconds, int ms) {
    auto victim = Process::Start({testing::Runfile("tests/e2e/stall_victim"),
                                  how, absl::StrCat(seconds), absl::StrCat(ms)},
                                 {absl::StrCat("HAWSER_SERVERS=", address_)});
    ASSERT_OK(victim);
    victims_.push_back(*std::move(victim));
  }

  std::string address_;
  std::vector<Process> server_, victims_;
  Client client_;
};

TEST_F(StallTest, AServerGoesOnBesideLoopsThatAreCut) {
  const char* const wish = std::getenv("HAWSER_STALL_SECONDS");
  const int seconds = wish == nullptr ? 10 : std::atoi(wish);
  auto work = Jit([](Tensor x) {
    return For(50, x, [](Tensor, Tensor y) { return Tanh(MatMul(y, y)); });
  });
  const auto time = [&] {
    const absl::Time start = absl::Now();
    const auto result =
        work.With({.client = client_, .call = {.deadline = kStuck}})(
            Ones(DType::kF32, {120, 120}));
    EXPECT_OK(result);
    if (!result.ok()) return absl::InfiniteDuration();
    EXPECT_OK(result->Fetch({.call = {.deadline = kStuck}}));
    return absl::Now() - start;
  };
  absl::Duration alone = absl::InfiniteDuration();
  for (int i = 0; i < 5; ++i) alone = std::min(alone, time());
  Start("loop", seconds, 100);
  Start("loop", seconds, 137);
  Start("work", seconds, 0);
  Start("work", seconds, 0);
  std::vector<absl::Duration> beside;
  const absl::Time end = absl::Now() + absl::Seconds(seconds);
  while (absl::Now() < end && !HasFailure()) beside.push_back(time());
  for (Process& victim : victims_) {
    const auto code = victim.Wait(kStuck);
    ASSERT_OK(code);
    EXPECT_EQ(*code, 0) << victim.output();
  }
  absl::Duration after = absl::InfiniteDuration();
  for (int i = 0; i < 5 && !HasFailure(); ++i) after = std::min(after, time());
  std::sort(beside.begin(), beside.end());
  ASSERT_FALSE(beside.empty());
  std::cout << beside.size() << " pieces of work: alone " << alone
            << ", beside four clients median " << beside[beside.size() / 2]
            << ", longest " << beside.back() << ", afterwards " << after
            << "\n";
}

}  // namespace
}  // namespace hawser
