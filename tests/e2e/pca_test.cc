// The example of principal components, as a user runs it, against a real
// server. What it must say comes from NumPy's eigh in f64: the first components
// explain 29.039, 17.755 and 6.019 % of the variance, 16 of them 76.520 %, and
// test images made of 16 are off by 0.0204462 a pixel, squared. Of the picture
// NumPy gives 1,670,832 as the sum of all greys; f32 may round some otherwise.
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(2);

struct Outcome {
  // The number behind `label`; -1 where there is none.
  double Number(const std::string& label) const {
    const size_t at = output.find(label);
    if (at == std::string::npos) return -1;
    return std::strtod(output.c_str() + at + label.size(), nullptr);
  }
  bool Says(const std::string& text) const {
    return absl::StrContains(output, text);
  }

  int exit_code;
  std::string output, picture;
};

Outcome RunExample(const std::string& address,
                   std::vector<std::string> flags = {}) {
  const TemporaryFolder folder;
  const std::string path = folder.Path("components.pgm");
  flags.insert(flags.begin(), {Runfile("client/examples/pca"),
                               absl::StrCat("--picture=", path)});
  auto example =
      Process::Start(flags, {absl::StrCat("HAWSER_SERVERS=", address)});
  if (!example.ok()) return {-1, example.status().ToString(), ""};
  auto code = example->Wait(kPatience);
  std::ifstream in(path, std::ios::binary);
  return {code.ok() ? *code : -1, example->output(),
          std::string(std::istreambuf_iterator<char>(in), {})};
}

void ExpectComponents(const Outcome& outcome) {
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NEAR(outcome.Number("component 1 explains "), 29.04, 0.011);
  EXPECT_NEAR(outcome.Number("component 2 explains "), 17.76, 0.011);
  EXPECT_NEAR(outcome.Number("component 3 explains "), 6.02, 0.011);
  EXPECT_TRUE(outcome.Says("so far 76.52 %")) << outcome.output;
  EXPECT_NEAR(outcome.Number("a pixel is off by "), 0.0204462, 2e-6);
  const std::string head = "P5\n112 112\n255\n";
  ASSERT_EQ(outcome.picture.size(), head.size() + 112 * 112);
  EXPECT_EQ(outcome.picture.substr(0, head.size()), head);
  const int sum = std::accumulate(
      outcome.picture.begin() + static_cast<int>(head.size()),
      outcome.picture.end(), 0,
      [](int all, char c) { return all + static_cast<unsigned char>(c); });
  EXPECT_NEAR(sum, 1670832, 100);
}

TEST(Pca, FindsComponentsOnAServer) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome outcome = RunExample(address);
  ExpectComponents(outcome);
  EXPECT_TRUE(outcome.Says(absl::StrCat("found on ", address)))
      << outcome.output;
}

TEST(Pca, SaysTheSameWhenTheServerIsKilledHalfWay) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome outcome = RunExample(
      address,
      {"--kill_server_after=2", absl::StrCat("--server_pid=", server->pid())});
  ExpectComponents(outcome);
  EXPECT_TRUE(outcome.Says("on cpu (fallback")) << outcome.output;
  auto code = server->Wait(absl::Seconds(10));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 128 + SIGKILL);
}

TEST(Pca, SaysTheSameOnTheCpu) { ExpectComponents(RunExample("")); }

TEST(Pca, RefusesMoreComponentsThanPixels) {
  const Outcome outcome = RunExample("", {"--components=785"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(outcome.Says("--components=785 of 784")) << outcome.output;
}

}  // namespace
}  // namespace hawser::testing
