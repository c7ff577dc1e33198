// The end of a job while the server is away, and what a frozen value is worth
// once it is back.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "client/fallback/policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/fallback/fallback_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class AwayTest : public FallbackTest {
 protected:
  FallbackPolicy Collecting(FallbackPolicy policy = NoProbes()) {
    policy.on_unsent = [this](const UnsentDataset& dataset) {
      unsent_.push_back(dataset);
    };
    return policy;
  }
  absl::Status Tag(const std::string& name, const std::string& token,
                   std::optional<std::string> expected = std::nullopt) {
    return client_->datasets()
        .Ask(DatasetTag{name, token, std::move(expected)}, Patient())
        .status();
  }
  absl::StatusOr<DatasetInfo> Named(const std::string& tag) {
    return client_->datasets().Ask(StatDataset{tag}, Patient());
  }

  std::vector<UnsentDataset> unsent_;
};

TEST_F(AwayTest, ATagWaitsForTheServer) {
  Start(Collecting(ProbingOften()));
  const auto step = Compile();
  server_->GoAway();
  const auto put = client_->datasets().Put({{{"x", a_}}}, Patient());
  ASSERT_OK(put);
  ASSERT_OK(Tag("@model", put->token));
  ASSERT_OK(Named("@model"));
  EXPECT_EQ(Named("@model")->token, put->token);
  server_->ComeBack();
  AwaitReturn();
  runtime::Client& server = *server_;
  const auto there = server.datasets().Ask(StatDataset{"@model"}, Patient());
  ASSERT_OK(there);
  EXPECT_EQ(there->token, put->token);
  client_.reset();
  EXPECT_TRUE(unsent_.empty());
}

TEST_F(AwayTest, ATagOfWhatIsNotHereOrThatComparesIsRefused) {
  Start();
  const auto put = client_->datasets().Put({{{"x", a_}}}, Patient());
  runtime::Client& server = *server_;
  const auto others = server.datasets().Put({{{"x", b_}}}, Patient());
  ASSERT_OK(others);
  server_->GoAway();
  EXPECT_THAT(Tag("@t", others->token), StatusIs(StatusCode::kUnavailable, ""));
  EXPECT_THAT(Tag("@t", put->token, ""),
              StatusIs(StatusCode::kUnavailable, ""));
  EXPECT_THAT(Tag("@t", ""), StatusIs(StatusCode::kUnavailable, ""));
}

TEST_F(AwayTest, WhatIsOnNoServerIsGivenAtTheEndOnce) {
  Start(Collecting());
  const auto sent = client_->datasets().Put({{{"x", b_}}}, Patient());
  server_->GoAway();
  const auto put = client_->datasets().Put({{{"x", a_}}}, Patient());
  ASSERT_OK(put);
  ASSERT_OK(Tag("@model", put->token));
  const auto step = Compile();
  const auto frozen =
      client_->datasets().Freeze({{"w", Step(step, w_)}}, Patient());
  ASSERT_OK(frozen);
  client_->GiveUnsent();
  ASSERT_EQ(unsent_.size(), 2);
  const bool first = unsent_[0].token == put->token;
  const UnsentDataset& model = unsent_[first ? 0 : 1];
  const UnsentDataset& made = unsent_[first ? 1 : 0];
  EXPECT_EQ(model.token, put->token);
  EXPECT_THAT(model.tags, ElementsAre("@model"));
  ASSERT_EQ(model.arrays.size(), 1);
  EXPECT_THAT(model.arrays[0].value, LiteralBitEquals(a_));
  EXPECT_EQ(made.token, frozen->token);
  ASSERT_EQ(made.arrays.size(), 1);
  EXPECT_THAT(made.arrays[0].value, LiteralBitEquals(Expected(1)));
  client_.reset();
  EXPECT_EQ(unsent_.size(), 2);
}

// A server that keeps its datasets is killed and up again: one step is made
// again, not all that led to what was frozen.
TEST_F(AwayTest, FreezingShortensRecovery) {
  server_->KeepDatasets(true);
  Start(ProbingOften());
  const auto step = Compile();
  runtime::BufferPtr w = Step(step, w_);
  for (int i = 1; i < 20; ++i) w = Step(step, w);
  ASSERT_OK(client_->datasets().Freeze({{"w", w}}, Patient()));
  // The values come over behind it.
  absl::SleepFor(absl::Milliseconds(100));
  const auto next = Step(step, w);
  server_->GoAway();
  server_->ComeBack();
  const int before = server_->counts().executions;
  const auto here = client_->stats().secondary_runs;
  EXPECT_THAT(*Fetch(next), LiteralBitEquals(Expected(21)));
  EXPECT_LE(server_->counts().executions - before +
                static_cast<int>(client_->stats().secondary_runs - here),
            2);
}

TEST_F(AwayTest, ARefusalIsTakenOverWhereThePolicySaysSo) {
  for (const StatusCode code :
       {StatusCode::kUnauthenticated, StatusCode::kPermissionDenied,
        StatusCode::kFailedPrecondition}) {
    const absl::Status why(code, "why");
    EXPECT_FALSE(TriggersFallback({}, why, false, false));
    EXPECT_TRUE(TriggersFallback({.on_refusal = true}, why, false, false));
  }
  EXPECT_EQ(StoodIn({"cpu"}, absl::UnauthenticatedError("")).where,
            "cpu (fallback: unauthenticated)");
  EXPECT_TRUE(StoodIn({"cpu"}, absl::UnauthenticatedError("")).fallback);
}

}  // namespace
}  // namespace hawser
