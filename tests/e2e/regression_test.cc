// The regression example, as a user runs it, against a real server. What it
// must reach comes from an independent run in NumPy: accuracy 0.8250, losses
// 0.5866 after 200 steps, 0.6622 after 300, 0.5250 after 400. (The steps are
// long enough for rounding to show in between: NumPy in f64 and f32 differ by
// 0.006 after 100.)
#include <signal.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

struct Outcome {
  int exit_code;
  std::string output;

  // The number behind `label`; -1 where there is none.
  double Number(const std::string& label) const {
    const size_t at = output.find(label);
    if (at == std::string::npos) return -1;
    return std::strtod(output.c_str() + at + label.size(), nullptr);
  }
};

Outcome RunExample(const std::string& address,
                   std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), Runfile("client/examples/regression"));
  auto example =
      Process::Start(flags, {absl::StrCat("HAWSER_SERVERS=", address)});
  if (!example.ok()) return {-1, example.status().ToString()};
  auto code = example->Wait(kPatience);
  return {code.ok() ? *code : -1, example->output()};
}

void ExpectLearned(const Outcome& outcome) {
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NEAR(outcome.Number("step 200 loss "), 0.5866, 0.002);
  EXPECT_NEAR(outcome.Number("step 300 loss "), 0.6622, 0.002);
  EXPECT_NEAR(outcome.Number("step 400 loss "), 0.5250, 0.002);
  EXPECT_NEAR(outcome.Number("accuracy "), 0.825, 0.003) << outcome.output;
}

bool Says(const Outcome& outcome, const std::string& text) {
  return absl::StrContains(outcome.output, text);
}

TEST(Regression, LearnsOnAServerAndUploadsTheImagesOnce) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome first = RunExample(address);
  ExpectLearned(first);
  EXPECT_TRUE(Says(first, "uploaded 47100000 of")) << first.output;
  EXPECT_TRUE(Says(first, absl::StrCat("tested on ", address)))
      << first.output;
  const Outcome second = RunExample(address, {"--steps=1"});
  EXPECT_TRUE(Says(second, "uploaded 0 of 47100000 bytes")) << second.output;
}

TEST(Regression, LearnsTheSameWhenTheServerIsKilledHalfWay) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome outcome =
      RunExample(address, {"--kill_server_after=200",
                           absl::StrCat("--server_pid=", server->pid())});
  ExpectLearned(outcome);
  EXPECT_TRUE(Says(outcome, "on cpu (fallback")) << outcome.output;
  auto code = server->Wait(absl::Seconds(10));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 128 + SIGKILL);
}

TEST(Regression, LearnsTheSameOnTheCpu) { ExpectLearned(RunExample("")); }

TEST(Regression, RefusesABatchLargerThanTheImages) {
  const Outcome outcome = RunExample("", {"--batch=60001"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(Says(outcome, "--batch=60001 of 60000 images"))
      << outcome.output;
}

}  // namespace
}  // namespace hawser::testing
