// Loops that are cut by their deadlines, beside long work, in four processes
// that live or are killed: another client's work goes on, and the server is as
// good afterwards. Once two
// such turns took both slots of the device for good.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
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

  void ExpectAllEndWell() {
    for (Process& victim : victims_) {
      const auto code = victim.Wait(kStuck);
      ASSERT_OK(code);
      EXPECT_EQ(*code, 0) << victim.output();
    }
  }

  std::string address_;
  std::vector<Process> server_, victims_;
  Client client_;
};

// How long each of the two takes.
int Seconds() {
  const char* const wish = std::getenv("HAWSER_STALL_SECONDS");
  return wish == nullptr ? 10 : std::atoi(wish);
}

// The work of another client, timed from its call to its value.
class Timed {
 public:
  explicit Timed(const Client& client) : client_(client) {}

  absl::Duration Once() {
    const absl::Time start = absl::Now();
    const auto result =
        work_.With({.client = client_, .call = {.deadline = kStuck}})(
            Ones(DType::kF32, {120, 120}));
    EXPECT_OK(result);
    if (!result.ok()) return absl::InfiniteDuration();
    EXPECT_OK(result->Fetch({.call = {.deadline = kStuck}}));
    return absl::Now() - start;
  }
  absl::Duration BestOf(int times) {
    absl::Duration best = absl::InfiniteDuration();
    for (int i = 0; i < times; ++i) best = std::min(best, Once());
    return best;
  }
  // Again and again until then, or until a failure.
  std::vector<absl::Duration> Until(absl::Time end) {
    std::vector<absl::Duration> times;
    while (absl::Now() < end && !::testing::Test::HasFailure()) {
      times.push_back(Once());
    }
    std::sort(times.begin(), times.end());
    return times;
  }

 private:
  static Tensor Formula(Tensor x) {
    return For(50, x, [](Tensor, Tensor y) { return Tanh(MatMul(y, y)); });
  }
  const Client client_;
  decltype(Jit(&Timed::Formula)) work_ = Jit(&Timed::Formula);
};

// How long the pieces waited, as multiples of what one takes alone.
void Report(const char* beside_what, absl::Duration alone,
            const std::vector<absl::Duration>& beside, absl::Duration after) {
  ASSERT_FALSE(beside.empty());
  const auto waited = [&](double share) {
    const auto last = static_cast<double>(beside.size() - 1);
    const absl::Duration took = beside[static_cast<size_t>(share * last)];
    return absl::FDivDuration(took - alone, alone);
  };
  std::cout << beside.size() << " pieces of work beside " << beside_what
            << ": alone " << alone << ", afterwards " << after << "; waited "
            << waited(0.5) << " of that, 90% at most " << waited(0.9)
            << ", 99% " << waited(0.99) << ", all " << waited(1) << "\n";
}

TEST_F(StallTest, AServerGoesOnBesideLoopsThatAreCut) {
  Timed work(client_);
  const absl::Duration alone = work.BestOf(5);
  Start("loop", Seconds(), 100);
  Start("loop", Seconds(), 137);
  Start("work", Seconds(), 0);
  Start("work", Seconds(), 0);
  const auto beside = work.Until(absl::Now() + absl::Seconds(Seconds()));
  ExpectAllEndWell();
  Report("loops that are cut", alone, beside, work.BestOf(5));
}

// What the machine's own scheduler makes of as many processes: the same work,
// computed in this one, beside four that compute by themselves.
TEST_F(StallTest, ProcessesWithoutAServerShareTheMachine) {
  Timed work{Client::Cpu()};
  const absl::Duration alone = work.BestOf(5);
  const int seconds = std::max(Seconds() / 4, 1);
  for (int i = 0; i < 4; ++i) Start("here", seconds, 0);
  const auto beside = work.Until(absl::Now() + absl::Seconds(seconds));
  ExpectAllEndWell();
  Report("processes without a server", alone, beside, work.BestOf(5));
}

// Each lives for a moment and is killed with its work under way.
TEST_F(StallTest, AServerGoesOnBesideClientsThatAreKilled) {
  Timed work(client_);
  const absl::Duration alone = work.BestOf(5);
  const absl::Time end = absl::Now() + absl::Seconds(Seconds());
  std::atomic<int> kills{0};
  std::thread killer([&] {
    std::mt19937 random(7);
    while (absl::Now() < end && !HasFailure()) {
      Start("loop", 600, 100);
      Start("loop", 600, 137);
      Start("work", 600, 0);
      Start("work", 600, 0);
      for (Process& victim : victims_) {
        absl::SleepFor(absl::Milliseconds(random() % 400));
        victim.Signal(SIGKILL);
        ++kills;
      }
      victims_.clear();  // which waits for them
    }
  });
  const auto beside = work.Until(end);
  killer.join();
  Report("clients that are killed", alone, beside, work.BestOf(5));
  std::cout << kills << " clients were killed\n";
}

}  // namespace
}  // namespace hawser
