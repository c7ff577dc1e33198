// The examples that train in the graph, as a user runs them: the same bits
// on every machine, and when a server goes away in between.
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(3);

struct Outcome {
  int exit_code = -1;
  std::string output;

  // From `label` on to the end of its line; "" where there is none.
  std::string Line(const std::string& label) const {
    const size_t at = output.find(label);
    if (at == std::string::npos) return "";
    return output.substr(at, output.find('\n', at) - at);
  }
  double Accuracy() const {
    const std::string line = Line("accuracy=");
    return line.empty() ? -1 : std::strtod(line.c_str() + 9, nullptr);
  }
};

Outcome RunExample(const std::string& program, const std::string& address,
                   const std::string& threads, std::vector<std::string> flags) {
  flags.insert(flags.begin(),
               Runfile(absl::StrCat("client/examples/", program)));
  auto example =
      Process::Start(flags, {absl::StrCat("HAWSER_SERVERS=", address),
                             absl::StrCat("HAWSER_CPU_THREADS=", threads)});
  if (!example.ok()) return {-1, example.status().ToString()};
  auto code = example->Wait(kPatience);
  return {code.ok() ? *code : -1, example->output()};
}

const std::vector<std::string> kSmall = {"--epochs=1", "--images=6000"};

TEST(Training, GivesTheSameBitsEverywhere) {
  const Outcome one = RunExample("training/fashion_mnist_mlp", "", "1", kSmall);
  ASSERT_EQ(one.exit_code, 0) << one.output;
  EXPECT_GT(one.Accuracy(), 0.7) << one.output;
  ASSERT_NE(one.Line("digest="), "") << one.output;
  const Outcome two = RunExample("training/fashion_mnist_mlp", "", "2", kSmall);
  EXPECT_EQ(two.Line("accuracy="), one.Line("accuracy=")) << two.output;
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome remote =
      RunExample("training/fashion_mnist_mlp", address, "1", kSmall);
  EXPECT_EQ(remote.Line("accuracy="), one.Line("accuracy=")) << remote.output;
  EXPECT_TRUE(absl::StrContains(remote.output, absl::StrCat("on ", address)))
      << remote.output;
}

TEST(Training, GoesOnWhenTheServerIsKilledAfterAnEpoch) {
  std::vector<std::string> flags = {"--epochs=2", "--images=2560"};
  const Outcome here = RunExample("training/fashion_mnist_mlp", "", "2", flags);
  ASSERT_EQ(here.exit_code, 0) << here.output;
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  flags.push_back("--kill_server_after=1");
  flags.push_back(absl::StrCat("--server_pid=", server->pid()));
  const Outcome there =
      RunExample("training/fashion_mnist_mlp", address, "2", flags);
  EXPECT_EQ(there.exit_code, 0) << there.output;
  EXPECT_EQ(there.Line("accuracy="), here.Line("accuracy=")) << there.output;
  EXPECT_TRUE(absl::StrContains(there.output, "on cpu (fallback"))
      << there.output;
}

TEST(Training, AConvolutionalNetworkLearns) {
  const std::string picture =
      absl::StrCat(::testing::TempDir(), "/filters.pgm");
  const Outcome here = RunExample(
      "training/fashion_mnist_cnn", "", "2",
      {"--epochs=1", "--images=6000", absl::StrCat("--filters_out=", picture)});
  ASSERT_EQ(here.exit_code, 0) << here.output;
  EXPECT_GT(here.Accuracy(), 0.7) << here.output;
  std::ifstream file(picture, std::ios::binary);
  std::string format;
  int width = 0, height = 0;
  file >> format >> width >> height;
  EXPECT_EQ(format, "P5");
  EXPECT_EQ(width, 16 * 44 + 4);
  EXPECT_EQ(height, 48);
}

TEST(Training, AConvolutionalNetworkGoesOnWhenTheServerIsKilled) {
  std::vector<std::string> flags = {"--epochs=2", "--images=640"};
  const Outcome here = RunExample("training/fashion_mnist_cnn", "", "2", flags);
  ASSERT_EQ(here.exit_code, 0) << here.output;
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  flags.push_back("--kill_server_after=1");
  flags.push_back(absl::StrCat("--server_pid=", server->pid()));
  const Outcome there =
      RunExample("training/fashion_mnist_cnn", address, "2", flags);
  EXPECT_EQ(there.exit_code, 0) << there.output;
  EXPECT_EQ(there.Line("accuracy="), here.Line("accuracy=")) << there.output;
}

TEST(Training, ARecurrentNetworkLearnsByScan) {
  const Outcome outcome = RunExample("training/fashion_mnist_rnn", "", "2",
                                     {"--epochs=1", "--images=12800"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_GT(outcome.Accuracy(), 0.6) << outcome.output;
}

// Of 10 centres the mean square of a distance is about 32 of 784 pixels from 0
// to 1; of one, the variance, 69.
TEST(Training, KMeansTurnsUntilNothingChanges) {
  const Outcome outcome =
      RunExample("kmeans", "", "2", {"--centres=10", "--most_turns=20"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const std::string line = outcome.Line("mean square distance ");
  ASSERT_NE(line, "") << outcome.output;
  const double distance = std::strtod(line.c_str() + 21, nullptr);
  EXPECT_GT(distance, 20) << outcome.output;
  EXPECT_LT(distance, 45) << outcome.output;
}

TEST(Training, RefusesOptionsThatDoNotFit) {
  const Outcome outcome = RunExample("training/fashion_mnist_mlp", "", "2",
                                     {"--images=100", "--batch=128"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(outcome.output, "a batch of 128 of 100 images"))
      << outcome.output;
}

}  // namespace
}  // namespace hawser::testing
