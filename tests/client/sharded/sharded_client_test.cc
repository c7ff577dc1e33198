#include "client/sharded/sharded_client.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "client/fallback/fallback_client.h"
#include "core/base/clock.h"
#include "core/ops/expression.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/client/fallback/scripted_client.h"
#include "tests/client/sharded/sharded_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;
using ::testing::HasSubstr;

class ShardedClientTest : public ShardedFixture {
 protected:
  void UsePolicy(const ShardedPolicy& policy) {
    const std::vector<std::shared_ptr<runtime::Client>> clients(places_.begin(),
                                                                places_.end());
    client_ = *MakeShardedClient(clients, policy);
  }
  void LoseAPlaceAfterAFreeze();
};

TEST_F(ShardedClientTest, RowsAreDoneByAllPlaces) {
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  const auto results = Run(RowWise(), arguments, "0.0/6");
  EXPECT_THAT(Fetch(results[0]), Gives(Expected(RowWise(), arguments)));
  EXPECT_EQ(executions(), 6);
  for (const auto& place : places_) EXPECT_GE(place->counts().executions, 1);
  ExpectTasks(6);
  EXPECT_EQ(client_->stats().tasks_again, 0);
}

TEST_F(ShardedClientTest, PiecesStayWhereTheyAreBetweenCalls) {
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  const auto first = Run(RowWise(), arguments, "0.0/3");
  EXPECT_OK(Fetch(first[0]));
  const int64_t sent = client_->stats().sent_bytes;
  const auto second = Run(RowWise(), {first[0], first[0]}, "0.0/3");
  EXPECT_OK(Fetch(second[0]));
  EXPECT_EQ(client_->stats().sent_bytes, sent);
  const Literal value = Expected(RowWise(), arguments);
  EXPECT_THAT(Fetch(second[0]), Gives(Expected(RowWise(), {value, value})));
}

TEST_F(ShardedClientTest, OtherPiecesAreMadeOfThoseThereAre) {
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  const auto first = Run(RowWise(), arguments, "0.0/3");
  const Literal value = Expected(RowWise(), arguments);
  const Literal twice = Expected(RowWise(), {value, value});
  for (const char* cuts : {"0.0/2", "0.1/5", "0.0=5+7 0.1=1+4", "0.0."}) {
    const auto second = Run(RowWise(), {first[0], first[0]}, cuts);
    EXPECT_THAT(Fetch(second[0]), Gives(twice)) << cuts;
  }
}

TEST_F(ShardedClientTest, SumsGoFromPlaceToPlace) {
  const Literal x = Numbers(Rows(), 1);
  const auto results = Run(ColumnSums(), {x}, "0.0/3 split");
  EXPECT_THAT(Fetch(results[0]), Gives(Expected(ColumnSums(), {x})));
  ExpectTasks(4);
  // Three partial sums come here, and two or three of them go on.
  EXPECT_LE(client_->stats().fetched_bytes, 4 * 4 * kColumns);
}

TEST_F(ShardedClientTest, ALostPlaceCostsItsOwnPiecesOnly) {
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  const auto first = Run(RowWise(), arguments, "0.0/3");
  const Literal value = *Fetch(first[0]);
  ExpectTasks(3);
  places_[1]->GoAway();
  EXPECT_THAT(Fetch(first[0]), Gives(value));
  EXPECT_EQ(executions(), 4);
  EXPECT_EQ(client_->stats().tasks_again, 1);
  EXPECT_EQ(client_->stats().places_left, 1);
  const auto second = Run(RowWise(), {first[0], first[0]}, "0.0/3");
  EXPECT_THAT(Fetch(second[0]), Gives(Expected(RowWise(), {value, value})));
  EXPECT_EQ(client_->stats().tasks_again, 1);
}

TEST_F(ShardedClientTest, ChainsAreFollowedBack) {
  const Literal start = Numbers(Rows(), 1);
  std::vector<BufferPtr> state = Run(RowWise(), {start, start}, "0.0/3");
  Literal value = Expected(RowWise(), {start, start});
  const Literal zeros = Literal::Zeros(Rows());
  for (int step = 0; step < 5; ++step) {
    state = Run(RowWise(), {state[0], zeros}, "0.0/3");
    value = Expected(RowWise(), {value, zeros});
  }
  EXPECT_OK(Fetch(state[0]));
  ExpectTasks(18);
  places_[2]->GoAway();
  EXPECT_THAT(Fetch(state[0]), Gives(value));
  // The third of each of six steps.
  EXPECT_EQ(client_->stats().tasks_again, 6);
}

TEST_F(ShardedClientTest, LongChainsAreCutByACheckpoint) {
  const Literal start = Numbers(Rows(), 1);
  const Literal zeros = Literal::Zeros(Rows());
  std::vector<BufferPtr> state = Run(RowWise(), {start, zeros}, "0.0/3");
  for (int step = 0; step < 40; ++step) {
    state = Run(RowWise(), {state[0], zeros}, "0.0/3");
  }
  ASSERT_OK(Fetch(state[0]));
  places_[2]->GoAway();
  EXPECT_THAT(Fetch(state[0]), Gives(start));
  EXPECT_LE(client_->stats().tasks_again, 17);
}

// A frozen value is not made again, and neither is what led to it.
// Eight steps that lead to a value, a freeze of it, one step more; then one
// place of three loses all but its datasets.
void ShardedClientTest::LoseAPlaceAfterAFreeze() {
  const Literal start = Numbers(Rows(), 1);
  const Literal zeros = Literal::Zeros(Rows());
  std::vector<BufferPtr> state = Run(RowWise(), {start, zeros}, "0.0/3");
  for (int step = 0; step < 8; ++step) {
    state = Run(RowWise(), {state[0], zeros}, "0.0/3");
  }
  const runtime::NamedArgument array = {"x", state[0]};
  ASSERT_OK(client_->datasets().Freeze({&array, 1}, {}).status());
  const auto later = Run(RowWise(), {state[0], zeros}, "0.0/3");
  ASSERT_OK(Fetch(later[0]));
  places_[2]->GoAway();
  EXPECT_THAT(Fetch(later[0]), Gives(start));
  EXPECT_THAT(Fetch(state[0]), Gives(start));
  // The third of the last step; without the freeze of all ten.
  EXPECT_EQ(client_->stats().tasks_again, 1);
}

TEST_F(ShardedClientTest, AFreezeIsTheRootOfWhatWasFrozen) {
  LoseAPlaceAfterAFreeze();
}

// One that is too large to be kept here comes from its dataset.
TEST_F(ShardedClientTest, AFreezeIsTheRootOfWhatIsLarge) {
  UsePolicy({.probe_first = absl::Milliseconds(1), .checkpoint_bytes = 0});
  LoseAPlaceAfterAFreeze();
}

// A chain of few steps that took long is cut too.
TEST_F(ShardedClientTest, SlowChainsAreCutByTheirTime) {
  UsePolicy({.probe_first = absl::Milliseconds(1),
             .max_replay = absl::Milliseconds(40)});
  const Literal start = Numbers(Rows(), 1);
  const Literal zeros = Literal::Zeros(Rows());
  std::vector<BufferPtr> state = Run(RowWise(), {start, zeros}, "0.0/3");
  for (int step = 0; step < 12; ++step) {
    absl::SleepFor(absl::Milliseconds(15));
    state = Run(RowWise(), {state[0], zeros}, "0.0/3");
    ASSERT_OK(Fetch(state[0]));
  }
  absl::SleepFor(absl::Milliseconds(50));
  places_[2]->GoAway();
  EXPECT_THAT(Fetch(state[0]), Gives(start));
  // The chain has thirteen steps, fewer than the sixteen that are cut by their
  // number.
  EXPECT_LE(client_->stats().tasks_again, 6);
}

// No step waits until the one before it is known to be done.
TEST_F(ShardedClientTest, SmallStepsAreQueuedWhereTheirStateIs) {
  constexpr int kSteps = 10;
  const Literal start = Numbers(Rows(), 1);
  const Literal zeros = Literal::Zeros(Rows());
  for (const auto& place : places_) place->Hold();
  ASSERT_OK_AND_ASSIGN(const auto step, client_->Compile(RowWise(), {}, {}));
  std::vector<BufferPtr> state = {*client_->Upload(start, {})};
  for (int i = 0; i < kSteps; ++i) {
    ASSERT_OK_AND_ASSIGN(state, step->Execute({state[0], zeros}, {}));
  }
  const absl::Time end = SteadyNow() + absl::Seconds(20);
  while (executions() < kSteps && SteadyNow() < end) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  int most = 0;
  for (const auto& place : places_) {
    most = std::max(most, place->counts().executions);
  }
  EXPECT_EQ(most, kSteps);
  for (const auto& place : places_) place->AnswerHeld(absl::OkStatus());
  EXPECT_THAT(Fetch(state[0]), Gives(start));
}

TEST_F(ShardedClientTest, APlaceGoneInTheMiddleIsDoneWithout) {
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  for (int after = 0; after < 3; ++after) {
    places_[0]->GoAwayAfter(after);
    const auto results = Run(RowWise(), arguments, "0.0*");
    EXPECT_THAT(Fetch(results[0]), Gives(Expected(RowWise(), arguments)));
    places_[0]->ComeBack();
    while (!client_->Ping({}).ok()) {
    }
  }
}

TEST_F(ShardedClientTest, WithoutAPlaceWorkIsUnavailable) {
  for (const auto& place : places_) place->GoAway();
  const auto results =
      Run(RowWise(), {Numbers(Rows(), 1), Numbers(Rows(), 2)}, "0.0/3");
  EXPECT_THAT(Fetch(results[0]),
              StatusIs(absl::StatusCode::kUnavailable, "no place"));
  EXPECT_THAT(client_->Ping({}), StatusIs(absl::StatusCode::kUnavailable, ""));
}

TEST_F(ShardedClientTest, AFallbackTakesOver) {
  auto client = MakeFallbackClient(client_, cpu::MakeCpuClient({}));
  auto executable = client->Compile(RowWise(), CutBy("0.0/3"), {});
  ASSERT_OK(executable);
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  auto results = (*executable)->Execute(arguments, {});
  ASSERT_OK(results);
  for (const auto& place : places_) place->GoAway();
  const Literal value = Expected(RowWise(), arguments);
  EXPECT_THAT(Fetch((*results)[0]), Gives(value));
  results = (*executable)->Execute({(*results)[0], value}, {});
  ASSERT_OK(results);
  EXPECT_THAT(Fetch((*results)[0]), Gives(Expected(RowWise(), {value, value})));
  EXPECT_THAT((*results)[0]->ran_on().where, HasSubstr("fallback"));
}

TEST_F(ShardedClientTest, WhatOnePlaceCannotAnotherDoes) {
  places_[0]->FailNext(absl::ResourceExhaustedError("full"));
  places_[1]->PoisonNext(absl::ResourceExhaustedError("full"));
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  const auto results = Run(RowWise(), arguments, "0.0/3");
  EXPECT_THAT(Fetch(results[0]), Gives(Expected(RowWise(), arguments)));
}

TEST_F(ShardedClientTest, AnErrorIsTheResults) {
  places_[1]->PoisonNext(absl::InvalidArgumentError("no such thing"));
  const std::vector<Argument> arguments = {Numbers(Rows(), 1),
                                           Numbers(Rows(), -30)};
  const auto results = Run(RowWise(), arguments, "0.0/3");
  EXPECT_THAT(Fetch(results[0]),
              StatusIs(absl::StatusCode::kInvalidArgument, "no such thing"));
  const auto next = Run(RowWise(), {results[0], results[0]}, "0.0/3");
  EXPECT_THAT(Fetch(next[0]),
              StatusIs(absl::StatusCode::kInvalidArgument, "no such thing"));
}

TEST_F(ShardedClientTest, DatasetsAreAtEveryPlace) {
  const Literal x = Numbers(Rows(), 1);
  DatasetSource source;
  source.arrays.push_back({"x", x});
  const auto info = client_->datasets().Put(source, {});
  ASSERT_OK(info);
  for (const auto& place : places_) EXPECT_EQ(place->counts().puts, 1);
  auto opened = client_->datasets().Open({info->token, "x"}, {});
  ASSERT_OK(opened);
  const int64_t sent = client_->stats().sent_bytes;
  const auto results = Run(RowWise(), {*opened, *opened}, "0.0/3");
  const Literal value = Expected(RowWise(), {x, x});
  EXPECT_THAT(Fetch(results[0]), Gives(value));
  EXPECT_EQ(client_->stats().sent_bytes, sent);
  // Rows of rows, and columns of them.
  auto rows = client_->datasets().Open({info->token, "x", RowRange{2, 9}}, {});
  ASSERT_OK(rows);
  const auto half = SharedModule({Shape::Of(DType::kF32, {9, kColumns})},
                                 [](const auto& p) { return 0.5 * p[0]; });
  const Literal nine = *Fetch(*rows);
  for (const char* cuts : {"0.0/3", "0.1/2", "0.0/2 0.1/2"}) {
    const auto halves = Run(half, {*rows}, cuts);
    EXPECT_THAT(Fetch(halves[0]), Gives(Expected(half, {nine}))) << cuts;
  }
  // A place that has it not is sent what it needs.
  places_[2]->GoAway();
  places_[2]->ComeBack();
  EXPECT_THAT(Fetch(Run(RowWise(), {*opened, *opened}, "0.0/6")[0]),
              Gives(value));
}

TEST_F(ShardedClientTest, WhatOutlivesItSaysSo) {
  const auto results =
      Run(RowWise(), {Numbers(Rows(), 1), Numbers(Rows(), 2)}, "0.0/3");
  auto executable = client_->Compile(RowWise(), CutBy("0.0/3"), {});
  client_ = nullptr;
  EXPECT_EQ(results[0]->client(), nullptr);
  EXPECT_THAT(Fetch(results[0]),
              StatusIs(absl::StatusCode::kFailedPrecondition, ""));
  EXPECT_THAT((*executable)->Execute({results[0], results[0]}, {}),
              StatusIs(absl::StatusCode::kFailedPrecondition, ""));
}

TEST_F(ShardedClientTest, ADeadlineEndsWhatIsUnderWay) {
  for (const auto& place : places_) place->Hold();
  auto executable = client_->Compile(RowWise(), CutBy("0.0/3"), {});
  runtime::ExecuteOptions options;
  options.call.cancel = CancelToken(SteadyNow() + absl::Milliseconds(20));
  auto results =
      (*executable)->Execute({Numbers(Rows(), 1), Numbers(Rows(), 2)}, options);
  ASSERT_OK(results);
  EXPECT_THAT((*results)[0]->Fetch(options.call).Await(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
}

TEST(MakeShardedClientTest, NeedsAPlace) {
  EXPECT_THAT(MakeShardedClient({}),
              StatusIs(absl::StatusCode::kInvalidArgument, ""));
}

}  // namespace
}  // namespace hawser
