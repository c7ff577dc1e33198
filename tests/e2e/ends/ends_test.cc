// Programs end with main's code, whatever is under way, and fork unharmed.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser {
namespace {

using testing::Process;

constexpr int kWell = 7;
constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr const char* kClients[] = {"cpu", "remote", "fallback", "sharded",
                                    "default"};

class EndsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      std::string address;
      auto server = testing::StartHawserd({"--device=cpu"}, &address);
      ASSERT_OK(server);
      servers_.push_back(*std::move(server));
      addresses_.push_back(address);
    }
    all_ = absl::StrJoin(addresses_, ",");
  }

  // Ends one run as it should.
  void Run(const std::string& client, const std::string& how) {
    std::vector<std::string> environment = {
        absl::StrCat("HAWSER_VICTIM_SERVERS=", all_), "HAWSER_CACHE=off"};
    if (client == "default") {
      environment.push_back(absl::StrCat("HAWSER_SERVERS=", all_));
      environment.push_back("HAWSER_SPREAD=1");
    }
    auto victim = Process::Start(
        {testing::Runfile("tests/e2e/ends_victim"), client, how}, environment);
    ASSERT_OK(victim);
    const auto code = victim->Wait(kPatience);
    ASSERT_OK(code) << client << " " << how;
    EXPECT_EQ(*code, kWell) << client << " " << how << ": " << victim->output();
  }

  void RunAll(const std::string& how, int times) {
    int runs = 0;
    for (const char* client : kClients) {
      for (int i = 0; i < times && !HasFailure(); ++i, ++runs) {
        Run(client, how);
      }
    }
    std::cout << runs << " ends: " << how << "\n";
  }

  static int Times(int in_full) {
    const char* const rounds = std::getenv("HAWSER_ENDS");
    return rounds == nullptr ? in_full / 20 : std::atoi(rounds);
  }

  std::vector<Process> servers_;
  std::vector<std::string> addresses_;
  std::string all_;
};

TEST_F(EndsTest, WithWorkLeftBehind) { RunAll("work", Times(200)); }
TEST_F(EndsTest, WithAThreadThatComputes) { RunAll("thread", Times(200)); }
TEST_F(EndsTest, WithStaticClientsAndTensors) { RunAll("static", Times(200)); }
TEST_F(EndsTest, OnAnotherThread) { RunAll("exit", Times(100)); }
TEST_F(EndsTest, WhileItPuts) { RunAll("put", Times(100)); }
TEST_F(EndsTest, WhileItFreezes) { RunAll("frozen", Times(100)); }
TEST_F(EndsTest, AfterForks) { RunAll("fork", 2); }
TEST_F(EndsTest, AfterForksBesideThreads) { RunAll("busy_fork", 2); }

}  // namespace
}  // namespace hawser
