// The Fashion-MNIST example, as a user runs it, against a real server and
// against NumPy.
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(5);

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

// The labels NumPy finds, one a line.
std::string NumPyLabels(const std::vector<std::string>& flags) {
  std::vector<std::string> argv = {"/usr/bin/python3",
                                   Runfile("tests/e2e/knn_reference.py")};
  argv.insert(argv.end(), flags.begin(), flags.end());
  auto python = Process::Start(argv);
  if (!python.ok()) return python.status().ToString();
  auto code = python->Wait(kPatience);
  EXPECT_TRUE(code.ok() && *code == 0) << python->output();
  return python->output();
}

struct Outcome {
  int exit_code;
  std::string output;
  std::string labels;
};

Outcome RunExample(const std::string& address,
                   std::vector<std::string> flags) {
  const std::string labels = TempPath("labels.txt");
  flags.insert(flags.begin(),
               Runfile("client/examples/fashion_mnist_knn"));
  flags.push_back("--labels_out=" + labels);
  auto example =
      Process::Start(flags, {absl::StrCat("HAWSER_SERVERS=", address)});
  if (!example.ok()) return {-1, example.status().ToString(), ""};
  auto code = example->Wait(kPatience);
  return {code.ok() ? *code : -1, example->output(), ReadFile(labels)};
}

TEST(FashionMnistKnn, SameLabelsAsNumPyAndASecondRunUploadsNothing) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string want = NumPyLabels({});
  const Outcome first = RunExample(address, {});
  ASSERT_EQ(first.exit_code, 0) << first.output;
  EXPECT_EQ(first.labels, want);
  EXPECT_TRUE(absl::StrContains(first.output, "accuracy 0.844 over 1000"))
      << first.output;
  EXPECT_TRUE(absl::StrContains(
      first.output, absl::StrCat("10 batches on ", address)))
      << first.output;
  EXPECT_TRUE(
      absl::StrContains(first.output, "uploaded 47100000 of 47100000 bytes"))
      << first.output;
  const Outcome second = RunExample(address, {"--images=100"});
  EXPECT_TRUE(
      absl::StrContains(second.output, "uploaded 0 of 47100000 bytes"))
      << second.output;
}

TEST(FashionMnistKnn, ShuffledTrainingImagesStillAgreeWithNumPy) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::vector<std::string> flags = {"--images=300",
                                          "--shuffle_train=20261121"};
  const Outcome outcome = RunExample(address, flags);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.labels, NumPyLabels(flags));
}

TEST(FashionMnistKnn, FinishesOnTheCpuWhenTheServerIsKilled) {
  std::string address;
  auto server = StartHawserd({}, &address);
  ASSERT_TRUE(server.ok()) << server.status();
  const Outcome outcome =
      RunExample(address, {"--images=500", "--kill_server_after=2",
                           absl::StrCat("--server_pid=", server->pid())});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.labels, NumPyLabels({"--images=500"}));
  EXPECT_TRUE(absl::StrContains(
      outcome.output, absl::StrCat("2 batches on ", address)))
      << outcome.output;
  for (const char* batch : {"batch 2 on", "batch 3 on", "batch 4 on"}) {
    EXPECT_TRUE(absl::StrContains(outcome.output,
                                  absl::StrCat(batch, " cpu (fallback")))
        << outcome.output;
  }
  auto code = server->Wait(absl::Seconds(10));
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(*code, 128 + SIGKILL);
}

TEST(FashionMnistKnn, RunsOnTheCpuWhenNoServerIsNamed) {
  const Outcome outcome = RunExample("", {"--images=100"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.labels, NumPyLabels({"--images=100"}));
  EXPECT_TRUE(absl::StrContains(outcome.output, "1 batches on cpu"))
      << outcome.output;
}

}  // namespace
}  // namespace hawser::testing
