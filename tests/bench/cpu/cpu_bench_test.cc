// Every work at a small size: it runs, and computes what its floor computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "tests/bench/cpu/bench.h"
#include "tests/bench/cpu/work.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class WorkTest : public ::testing::TestWithParam<int> {};

TEST_P(WorkTest, ComputesWhatItsFloorComputes) {
  const Work work = AllWorks()[GetParam()];
  for (const int threads : {1, 2, 3}) {
    SCOPED_TRACE(threads);
    const Setting setting = {
        .small = true,
        .threads = threads,
        .client = cpu::MakeCpuClient({.threads = threads})};
    ASSERT_OK_AND_ASSIGN(const Race race, work.prepare(setting));
    EXPECT_OK(race.check());
    EXPECT_OK(race.ours());
    EXPECT_OK(race.floor());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkTest, ::testing::Range(0, static_cast<int>(AllWorks().size())),
    [](const auto& info) { return AllWorks()[info.param].name; });

TEST(NearTest, TellsTheFirstElementThatIsOff) {
  const Literal got = Literal::Vector<float>({1, 2, 3});
  EXPECT_OK(Near<float>(got, std::vector<float>{1, 2, 3}));
  EXPECT_OK(Near<float>(got, std::vector<float>{1, 2.5, 3}, {.absolute = 0.5}));
  EXPECT_OK(Near<float>(got, std::vector<float>{1, 2.5, 3}, {.relative = 0.2}));
  EXPECT_THAT(Near<float>(got, std::vector<float>{1, 2.5, 4}).message(),
              HasSubstr("element 1 is 2 instead of 2.5"));
  EXPECT_THAT(Near<float>(got, std::vector<float>{1, 2}).message(),
              HasSubstr("f32[3]"));
  EXPECT_FALSE(Near<int32_t>(got, std::vector<int32_t>{1, 2, 3}).ok());
  const Literal none = Literal::Vector<float>({NAN});
  EXPECT_FALSE(Near<float>(none, std::vector<float>{0}, {.absolute = 1}).ok());
}

TEST(SplitTest, GivesEachElementToOnePart) {
  for (const int64_t n : {0, 1, 63, 64, 65, 640}) {
    for (const int threads : {1, 2, 3, 7}) {
      std::vector<std::atomic<int>> times(n);
      Split(threads, n, 64, [&](int64_t begin, int64_t end, int part) {
        EXPECT_LT(part, threads);
        EXPECT_EQ(begin % 64, 0) << n;
        for (int64_t i = begin; i < end; ++i) ++times[i];
      });
      for (const auto& time : times) EXPECT_EQ(time, 1);
    }
  }
}

CpuBenchOptions Small(const std::vector<std::string>& only) {
  return {.only = only, .threads = {1, 2}, .rounds = 2, .small = true};
}

TEST(CpuBenchTest, HasALineForEachNumberOfThreads) {
  CpuBenchOptions options = Small({"silu", "compile_100"});
  options.peers = false;
  std::vector<CpuBenchLine> lines;
  ASSERT_OK(RunCpuBench(
      options, [&](const CpuBenchLine& line) { lines.push_back(line); }));
  ASSERT_THAT(lines, SizeIs(3));  // to compile takes one thread
  for (const CpuBenchLine& line : lines) {
    SCOPED_TRACE(ToTableLine(line));
    EXPECT_OK(line.status);
    EXPECT_GT(line.ours, 0);
    EXPECT_GT(line.of_floor.median, 0);
    EXPECT_LE(line.of_floor.least, line.of_floor.median);
    EXPECT_GE(line.of_floor.most, line.of_floor.median);
    ASSERT_THAT(line.of_peers, SizeIs(kNumPeers));
    EXPECT_FALSE(line.of_peers[0].skipped.empty());
  }
  EXPECT_GT(lines[0].thought, 0);
  EXPECT_EQ(lines[1].thought, 0);  // of one thread alone
  EXPECT_EQ(lines[1].work, "silu");
  EXPECT_EQ(lines[1].threads, 2);
  EXPECT_EQ(lines[2].unit, "us");
}

// NumPy is one of the packages that hawser is tested with.
TEST(CpuBenchTest, AsksPeersInTheSameRounds) {
  EXPECT_THAT(PeersHere(), HasSubstr("numpy 1."));
  int lines = 0;
  ASSERT_OK(RunCpuBench(Small({"kmeans_turn"}), [&](const CpuBenchLine& line) {
    ++lines;
    EXPECT_OK(line.status);
    ASSERT_THAT(line.of_peers, SizeIs(kNumPeers));
    EXPECT_EQ(line.of_peers[0].skipped, "");
    EXPECT_GT(line.of_peers[0].median, 0);
  }));
  EXPECT_EQ(lines, 2);
}

TEST(CpuBenchTest, RefusesUnknownNames) {
  EXPECT_THAT(RunCpuBench(Small({"silu", "silo"}), [](const CpuBenchLine&) {})
                  .message(),
              HasSubstr("no work is named 'silo'"));
}

TEST(CpuBenchTest, MarksMissedTargets) {
  CpuBenchLine line = {.work = "w", .threads = 2, .unit = "ms"};
  line.ours = 3;
  line.floor = 2;
  line.of_floor = {.median = 1.5, .least = 1.4, .most = 1.6, .target = 1.3};
  line.of_peers.resize(2);
  line.of_peers[0].skipped = "not for numpy";
  EXPECT_EQ(
      ToTableLine(line),
      "| w | 2 | 3 ms | 2 | 1.5! (1.4-1.6) | 1.3 | - |  | - |  | - | 0.0 |\n");
  line.thought = 0.2;
  EXPECT_THAT(ToTableLine(line), HasSubstr("| 0.2! | 0.0 |"));
  line.thought = 0.5;
  EXPECT_THAT(ToTableLine(line), HasSubstr("| 0.5 | 0.0 |"));
  line.of_floor.target = 1.5;
  EXPECT_THAT(ToTableLine(line), HasSubstr("| 1.5 (1.4-1.6) | 1.5 |"));
  line.ours_target = 2;
  EXPECT_THAT(ToTableLine(line), HasSubstr("| 3! ms |"));
}

}  // namespace
}  // namespace hawser::bench
