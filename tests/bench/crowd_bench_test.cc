// The bench still runs, and what it says can be believed. No times.
#include <cmath>

#include "gtest/gtest.h"
#include "tests/bench/crowd/crowd.h"
#include "tests/bench/crowd/neighbour.h"
#include "tests/bench/measure/peers.h"
#include "tests/bench/measure/report.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

TEST(CrowdBench, EveryCallOfManyConnectionsIsAnswered) {
  ASSERT_OK_AND_ASSIGN(const Peers peers, Peers::Start(0, {"--device=cpu"}));
  Report report;
  ASSERT_OK(MeasureCrowd(peers,
                         {.rounds = 1, .connections = 40, .seconds = 0.1},
                         "free", &report));
  ASSERT_EQ(report.rows.size(), 4u);
  for (const Row& row : report.rows) {
    EXPECT_TRUE(std::isfinite(row.ratio)) << row.what;
  }
}

TEST(CrowdBench, AFailedCallIsAnErrorAndNoFigure) {
  ASSERT_OK_AND_ASSIGN(const Peers peers,
                       Peers::Start(0, {"--max_connections=2"}));
  Report report;
  EXPECT_FALSE(MeasureCrowd(peers,
                            {.rounds = 1, .connections = 40, .seconds = 0.1},
                            "free", &report)
                   .ok());
  EXPECT_TRUE(report.rows.empty());
}

TEST(CrowdBench, BothSessionsOfAServerGoOn) {
  ASSERT_OK_AND_ASSIGN(const Peers peers, Peers::Start(0, {"--device=cpu"}));
  Report report;
  ASSERT_OK(MeasureNeighbour(peers, {.rounds = 1, .seconds = 0.2, .size = 64},
                             "free", &report));
  ASSERT_EQ(report.rows.size(), 5u);
  for (const Row& row : report.rows) {
    EXPECT_TRUE(std::isfinite(row.ratio)) << row.what;
    EXPECT_GT(row.ratio, 0) << row.what;
  }
}

}  // namespace
}  // namespace hawser::bench
