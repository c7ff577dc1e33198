// Long chains, limits, lifetimes and threads.
#include <random>
#include <thread>
#include <utility>

#include "core/runtime/datasets.h"
#include "tests/client/fallback/fallback_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;
using RecoveryTest = FallbackTest;

constexpr int kSteps = 2000;
constexpr unsigned kSeed = 20261121;

TEST_F(RecoveryTest, AChainSurvivesTheServerDyingAnywhere) {
  const Literal want = Expected(kSteps);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 20; ++round) {
    server_->ComeBack();
    Start();
    const auto step = Compile();
    const int death = std::uniform_int_distribution<>(0, kSteps)(random);
    SCOPED_TRACE(absl::StrCat("seed ", kSeed, ", round ", round,
                              ", dies at step ", death));
    server_->GoAwayAfter(death);
    BufferPtr w = *client_->Upload(w_, {});
    for (int i = 0; i < kSteps; ++i) {
      w = Step(step, w, i % 3 == 0 ? std::vector<int>{0} : std::vector<int>{});
    }
    EXPECT_THAT(*Fetch(w), LiteralBitEquals(want));
    EXPECT_EQ(client_->stats().switches, death < kSteps ? 1 : 0);
    w = nullptr;
    EXPECT_EQ(client_->stats().recipe_bytes, 0);
  }
}

// The chain is far longer than any recipe may be: checkpoints make it short.
TEST_F(RecoveryTest, CheckpointsKeepRecipesShort) {
  FallbackPolicy policy = NoProbes();
  policy.max_recipe_steps = 64;
  Start(policy);
  const auto step = Compile();
  BufferPtr w = *client_->Upload(w_, {});
  for (int i = 0; i < kSteps; ++i) {
    w = Step(step, w);
    EXPECT_LE(client_->stats().recipe_bytes, 70 * 1200);
  }
  server_->GoAway();
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(kSteps)));
  EXPECT_LE(client_->stats().secondary_runs, 64);
}

TEST_F(RecoveryTest, ADroppedRecipeIsDataLossThatNamesTheValue) {
  FallbackPolicy policy = NoProbes();
  policy.max_recipe_steps = 4;
  policy.checkpoint_bytes = 0;
  Start(policy);
  const auto step = Compile();
  BufferPtr w = *client_->Upload(w_, {});
  for (int i = 0; i < 5; ++i) w = Step(step, w);
  EXPECT_OK(Fetch(w));  // nothing is lost while the server is there
  server_->GoAway();
  EXPECT_THAT(Fetch(w), StatusIs(StatusCode::kDataLoss,
                                 "result 0 of step, f32[4], is lost"));
  EXPECT_THAT(Fetch(w), StatusIs(StatusCode::kDataLoss, "at most 4 steps"));
}

TEST_F(RecoveryTest, LimitsAreForTheServersValuesOnly) {
  FallbackPolicy policy = NoProbes();
  policy.max_recipe_steps = 0;
  policy.max_recipe_bytes = 0;
  Start(policy);
  server_->GoAway();
  const auto step = Compile();
  BufferPtr w = *client_->Upload(w_, {});
  for (int i = 0; i < 10; ++i) w = Step(step, w);
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(10)));
}

TEST_F(RecoveryTest, WhatIsMadeOnTheSecondaryKeepsNoChain) {
  Start();
  server_->GoAway();
  const auto step = Compile();
  BufferPtr w = *client_->Upload(w_, {});
  for (int i = 0; i < kSteps; ++i) w = Step(step, w);
  EXPECT_EQ(cpu_->live_buffers(), 1);
  w = nullptr;
  EXPECT_EQ(cpu_->live_buffers(), 0);
}

TEST_F(RecoveryTest, BuffersAndExecutablesOutliveTheClient) {
  Start();
  const auto step = Compile();
  const BufferPtr result = Step(step, w_);
  client_ = nullptr;
  EXPECT_EQ(result->client(), nullptr);
  EXPECT_EQ(result->shape().ToString(), "f32[4]");
  EXPECT_EQ(result->ran_on(), "server");
  EXPECT_THAT(Fetch(result), StatusIs(StatusCode::kFailedPrecondition, "gone"));
  EXPECT_THAT(step->Execute({w_, a_, b_}, {}),
              StatusIs(StatusCode::kFailedPrecondition, "gone"));
  EXPECT_THAT(step->Call({w_, a_, b_}, {}).Await(),
              StatusIs(StatusCode::kFailedPrecondition, "gone"));
  Start();  // perhaps at the same address
  EXPECT_THAT(Compile()->Execute({result, a_, b_}, {}),
              StatusIs(StatusCode::kFailedPrecondition, "another client"));
}

TEST_F(RecoveryTest, AnswersComeThoughTheClientIsGone) {
  Start();
  const auto step = Compile();
  const BufferPtr result = Step(step, w_);
  server_->Hold();
  const auto timed = result->Fetch(
      {.cancel = CancelToken(absl::Now() + absl::Hours(1)),
       .attempt_timeout = absl::Minutes(30)});
  const auto untimed = result->Fetch({});
  const auto called = step->Call({w_, a_, b_}, {});
  EXPECT_EQ(server_->held(), 3);
  client_ = nullptr;
  EXPECT_FALSE(timed.ready());  // the primary still may answer
  EXPECT_FALSE(untimed.ready());
  server_->AnswerHeld(Unavailable("gone too"));
  EXPECT_THAT(timed.Await(), StatusIs(StatusCode::kUnavailable, "gone too"));
  EXPECT_THAT(untimed.Await(), StatusIs(StatusCode::kUnavailable, "gone too"));
  EXPECT_THAT(called.Await(), StatusIs(StatusCode::kUnavailable, "gone too"));
}

// The last reference goes in the callback of a future: on the primary's thread
// (here: this one), on the worker's, on the timer's.
TEST_F(RecoveryTest, TheClientMayGoInACallback) {
  enum { kPrimary, kWorker, kTimer };
  for (int where : {kPrimary, kWorker, kTimer}) {
    server_->ComeBack();
    Start();
    const BufferPtr result = Step(Compile(), w_);
    Promise<int> gone;
    if (where == kWorker) server_->GoAway();
    if (where == kTimer) server_->Hold();
    runtime::CallOptions options;
    if (where == kTimer) {
      options.cancel = CancelToken(absl::Now() + absl::Milliseconds(5));
    }
    result->Fetch(options).OnReady(
        [this, &gone](const absl::StatusOr<Literal>&) {
          client_ = nullptr;
          gone.Set(0);
        });
    EXPECT_OK(gone.future().Await(absl::Now() + absl::Seconds(30))) << where;
    server_->AnswerHeld(absl::OkStatus());
  }
}

TEST_F(RecoveryTest, TheClientMayGoWhileItProbes) {
  for (int round = 0; round < 20; ++round) {
    server_->ComeBack();
    StartWithProbes();
    ASSERT_OK(client_->datasets().Put({{{"", w_}}}, {}));
    server_->GoAway();
    EXPECT_OK(client_->Ping({}));
    absl::SleepFor(absl::Microseconds(300 * round));
    client_ = nullptr;
  }
}

TEST_F(RecoveryTest, ThreadsComputeWhileThePrimaryFlaps) {
  StartWithProbes();
  const auto step = Compile();
  std::atomic<bool> stop{false};
  std::thread flapping([&] {
    std::mt19937 random(kSeed);
    while (!stop) {
      server_->GoAwayAfter(std::uniform_int_distribution<>(0, 60)(random));
      absl::SleepFor(absl::Milliseconds(3));
      server_->GoAway();
      absl::SleepFor(absl::Milliseconds(1));
      server_->ComeBack();
    }
  });
  const BufferPtr shared = *client_->Upload(w_, {});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      BufferPtr w = shared;
      for (int i = 1; i <= 300; ++i) {
        w = Step(step, w, i > 1 && i % 4 == t ? std::vector<int>{0}
                                              : std::vector<int>{});
        ASSERT_NE(w, nullptr);
        if (i % 16 != t) continue;
        EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(i)));
        EXPECT_THAT(*Fetch(shared), LiteralBitEquals(w_));
      }
      EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(300)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  stop = true;
  flapping.join();
  EXPECT_EQ(announced_, client_->stats().switches);
}

}  // namespace
}  // namespace hawser
