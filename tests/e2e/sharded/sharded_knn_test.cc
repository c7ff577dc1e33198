// The Fashion-MNIST example over three real servers, by HAWSER_SPREAD=1 alone:
// the labels that NumPy finds, element by element, whatever becomes of them.
#include <signal.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(5);
constexpr int kBatches = 6;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// The labels NumPy finds, one a line.
const std::string& NumPyLabels() {
  static const auto& labels = *new std::string([] {
    auto python = Process::Start({"/usr/bin/python3",
                                  Runfile("tests/e2e/knn_reference.py"),
                                  absl::StrCat("--images=", kBatches * 100)});
    if (!python.ok()) return python.status().ToString();
    auto code = python->Wait(kPatience);
    EXPECT_TRUE(code.ok() && *code == 0) << python->output();
    return python->output();
  }());
  return labels;
}

class ShardedKnn : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 3; ++i) {
      auto server = StartHawserd({}, &addresses_.emplace_back());
      ASSERT_TRUE(server.ok()) << server.status();
      servers_.push_back(*std::move(server));
    }
  }

  absl::StatusOr<Process> StartExample() {
    labels_ = ::testing::TempDir() + "/labels.txt";
    return Process::Start(
        {Runfile("client/examples/fashion_mnist_knn"),
         absl::StrCat("--images=", kBatches * 100), "--labels_out=" + labels_},
        {"HAWSER_SPREAD=1",
         absl::StrCat("HAWSER_SERVERS=", absl::StrJoin(addresses_, ","))});
  }
  // It finishes with the labels of NumPy.
  void ExpectLabels(Process& example) {
    const auto code = example.Wait(kPatience);
    ASSERT_TRUE(code.ok() && *code == 0) << example.output();
    EXPECT_EQ(ReadFile(labels_), NumPyLabels()) << example.output();
  }
  static bool Says(const Process& example, const std::string& text) {
    return absl::StrContains(example.output(), text);
  }

  std::vector<std::string> addresses_;
  std::vector<Process> servers_;
  std::string labels_;
};

TEST_F(ShardedKnn, AllServersFindTheLabelsOfNumPy) {
  auto example = StartExample();
  ASSERT_TRUE(example.ok()) << example.status();
  ExpectLabels(*example);
  // The data went to each of them; all are in what found the first batch.
  EXPECT_TRUE(Says(*example, "uploaded 47100000 of 47100000 bytes to 3 places")) << example->output();
  EXPECT_TRUE(Says(*example, absl::StrCat(kBatches, " batches on ")))
      << example->output();
}

TEST_F(ShardedKnn, WithOneOfThemKilledHalfWay) {
  auto example = StartExample();
  ASSERT_TRUE(example.ok()) << example.status();
  ASSERT_TRUE(example->ReadLineWith("batch 2 on", kPatience).ok());
  servers_[1].Signal(SIGKILL);
  ExpectLabels(*example);
  EXPECT_TRUE(Says(*example, absl::StrCat(addresses_[1], " is left")))
      << example->output();
  EXPECT_FALSE(Says(*example, "fallback")) << example->output();
}

TEST_F(ShardedKnn, WithAllOfThemKilledHalfWay) {
  auto example = StartExample();
  ASSERT_TRUE(example.ok()) << example.status();
  ASSERT_TRUE(example->ReadLineWith("batch 2 on", kPatience).ok());
  for (Process& server : servers_) server.Signal(SIGKILL);
  ExpectLabels(*example);
  EXPECT_TRUE(Says(*example, "on cpu (fallback")) << example->output();
}

}  // namespace
}  // namespace hawser::testing
