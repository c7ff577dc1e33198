// The bench still runs, and what it says can be believed. No times.
#include "tests/bench/wire/wire_bench.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tests/bench/echo/echo_client.h"
#include "tests/bench/echo/message_sizes.h"
#include "tests/bench/measure/rounds.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

TEST(WireBench, RunsAndPuttingAgainSendsNoData) {
  WirePlan plan;
  plan.latency = {.rounds = 2, .iterations = 5};
  plan.throughput = {.rounds = 1, .bytes = int64_t{9} << 20};
  ASSERT_OK_AND_ASSIGN(const Report report, MeasureWire(plan));
  EXPECT_EQ(report.put_again_bytes, 0);
  EXPECT_GE(report.rows.size(), 9u);
  for (const Row& row : report.rows) {
    EXPECT_TRUE(std::isfinite(row.ratio)) << row.what;
  }
}

TEST(WireBench, TheFloorExchangesAsManyBytes) {
  for (const MessageSizes& sizes : {SizesOfStep(), SizesOfCall()}) {
    const EchoMessage request = RequestOf(sizes);
    EXPECT_EQ(request.ByteSizeLong(), sizes.request);
    EchoMessage answer;
    answer.set_data(std::string(request.answer_bytes(), 'x'));
    EXPECT_EQ(answer.ByteSizeLong(), sizes.answer);
  }
}

TEST(WireBench, MediansAreOfRounds) {
  const Rounds rounds = {{{1, 9}, {2, 9}}, {{8, 9}, {2, 9}}, {{3, 9}, {1, 9}}};
  EXPECT_EQ(MedianOf(rounds, [](const Round& r) { return r[0].p50; }), 3);
  EXPECT_EQ(
      MedianOf(rounds, [](const Round& r) { return r[0].p50 / r[1].p50; }), 3);
}

}  // namespace
}  // namespace hawser::bench
