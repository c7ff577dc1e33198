// The data-parallel example over real servers: one loss curve, bit by bit, for
// any number of them and when one is killed; and that of one machine.
#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

// "step 10 loss 1.18814242" of each line that says so.
std::vector<std::string> LossesIn(const Process& example) {
  std::vector<std::string> losses;
  for (absl::string_view line : absl::StrSplit(example.output(), '\n')) {
    if (!absl::StartsWith(line, "step ")) continue;
    losses.emplace_back(line.substr(0, line.find(" on ")));
  }
  return losses;
}

class ShardedRegression : public ::testing::Test {
 protected:
  absl::StatusOr<Process> Start(int servers) {
    std::vector<std::string> addresses;
    servers_.clear();
    for (int i = 0; i < servers; ++i) {
      auto server = StartHawserd({}, &addresses.emplace_back());
      if (!server.ok()) return server.status();
      servers_.push_back(*std::move(server));
    }
    return Process::Start(
        {Runfile("client/examples/sharded_regression"), "--steps=60"},
        {"HAWSER_SPREAD=1",
         absl::StrCat("HAWSER_SERVERS=", absl::StrJoin(addresses, ","))});
  }
  std::vector<std::string> Losses(absl::StatusOr<Process> example) {
    EXPECT_TRUE(example.ok()) << example.status();
    if (!example.ok()) return {};
    const auto code = example->Wait(kPatience);
    EXPECT_TRUE(code.ok() && *code == 0) << example->output();
    return LossesIn(*example);
  }

  std::vector<Process> servers_;
};

TEST_F(ShardedRegression, HasOneLossCurveForAnyNumberOfServers) {
  const std::vector<std::string> one = Losses(Start(1));
  ASSERT_EQ(one.size(), 6);
  EXPECT_EQ(Losses(Start(2)), one);
  EXPECT_EQ(Losses(Start(3)), one);

  auto example = Start(3);
  ASSERT_TRUE(example.ok()) << example.status();
  ASSERT_TRUE(example->ReadLineWith("step 20 ", kPatience).ok());
  servers_[2].Signal(SIGKILL);
  EXPECT_EQ(Losses(std::move(example)), one);

  // On one machine nothing is cut, and sums have another order, which sixty
  // steps carry on.
  const std::vector<std::string> local = Losses(Start(0));
  ASSERT_EQ(local.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) {
    const double want = std::atof(local[i].substr(13).c_str());
    EXPECT_NEAR(std::atof(one[i].substr(13).c_str()), want, 1e-4 * want);
  }
}

}  // namespace
}  // namespace hawser::testing
