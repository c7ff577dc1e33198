// Work on data that only the primary has: it waits for the primary, and what was
// lost is made again over there.
#include <string>
#include <thread>

#include "core/base/status.h"
#include "core/runtime/datasets.h"
#include "tests/client/fallback/fallback_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;

class WaitingTest : public FallbackTest {
 protected:
  // The server has a dataset that another process put there.
  void SetUp() override {
    server_->KeepDatasets(true);
    const auto put = server_->datasets().Put({{{"", w_}}}, {});
    ASSERT_OK(put);
    token_ = put->token;
  }
  BufferPtr Data() {
    auto data = client_->datasets().Open({token_, ""}, Patient());
    EXPECT_OK(data);
    return data.ok() ? *data : nullptr;
  }
  BufferPtr Steps(const ExecutablePtr& step, BufferPtr w, int n) {
    for (int i = 0; i < n; ++i) w = Step(step, w);
    return w;
  }
  // Waits no longer than that for a server that does not come back.
  void StartWaiting(absl::Duration limit) {
    FallbackPolicy policy = NoProbes();
    policy.wait_for_primary = limit;
    Start(std::move(policy));
  }
  static void SoonAfter(std::thread* later, std::function<void()> call) {
    *later = std::thread([call = std::move(call)] {
      absl::SleepFor(absl::Milliseconds(30));
      call();
    });
  }

  std::string token_;
};

TEST_F(WaitingTest, AFetchWaitsAndTheStateIsReplayedThere) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 5);
  server_->GoAway();
  const Future<Literal> value = w->Fetch(Patient());
  EXPECT_OK(client_->Ping({}));  // by the CPU: other work goes on
  EXPECT_FALSE(value.ready());
  server_->ComeBack();
  EXPECT_THAT(*value.Await(), LiteralBitEquals(Expected(5)));
  EXPECT_EQ(w->ran_on(), "server");
  EXPECT_EQ(client_->stats().secondary_runs, 0);
}

TEST_F(WaitingTest, AnExecutionWaitsToo) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 5);
  server_->GoAway();
  std::thread later;
  SoonAfter(&later, [&] { server_->ComeBack(); });
  const BufferPtr next = Step(step, w);
  later.join();
  EXPECT_THAT(*Fetch(next), LiteralBitEquals(Expected(6)));
  EXPECT_EQ(next->ran_on(), "server");
}

TEST_F(WaitingTest, ACallAndAnOpenWaitToo) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr data = Data();
  for (int round = 0; round < 2; ++round) {
    server_->GoAway();
    EXPECT_OK(client_->Ping({}));
    std::thread later;
    SoonAfter(&later, [&] { server_->ComeBack(); });
    if (round == 0) {
      const auto called = step->Call({data, a_, b_}, Patient()).Await();
      ASSERT_OK(called);
      EXPECT_THAT(called->values[0], LiteralBitEquals(Expected(1)));
    } else {
      EXPECT_THAT(*Fetch(Data()), LiteralBitEquals(w_));
    }
    later.join();
  }
}

// Once its copy has come over nothing waits.
TEST_F(WaitingTest, WhatIsKeptHereGoesOnHere) {
  Start();
  const auto step = Compile();
  const auto info = client_->datasets().Ask(StatDataset{token_}, Patient());
  ASSERT_OK(info);
  client_->datasets().KeepLocal(*info);
  client_->datasets().KeepLocal(*info);  // is there already
  const BufferPtr w = Steps(step, Data(), 5);
  server_->GoAway();
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(5)));
  EXPECT_EQ(w->ran_on(), "cpu (fallback: unreachable)");
  EXPECT_THAT(*Fetch(Steps(step, Data(), 3)), LiteralBitEquals(Expected(3)));
  const auto called = step->Call({Data(), a_, b_}, Patient()).Await();
  ASSERT_OK(called);
  EXPECT_THAT(called->values[0], LiteralBitEquals(Expected(1)));
  EXPECT_EQ(called->ran_on, "cpu (fallback: unreachable)");
  EXPECT_TRUE(called->ran_on.fallback);
}

TEST_F(WaitingTest, WhatIsDeletedIsNotKept) {
  Start();
  const auto info = client_->datasets().Ask(StatDataset{token_}, Patient());
  ASSERT_OK(info);
  server_->Hold();
  client_->datasets().KeepLocal(*info);
  server_->AnswerHeld(absl::OkStatus());
  ASSERT_OK(client_->datasets().Ask(DeleteDataset{token_}, Patient()));
  EXPECT_THAT(client_->datasets().Open({token_, ""}, Patient()),
              StatusIs(StatusCode::kNotFound, token_));
  server_->GoAway();
  EXPECT_THAT(client_->datasets().Open({token_, ""}, Patient()),
              StatusIs(StatusCode::kUnavailable, "is away"));
}

// The policy bounds the wait, not what is done when it is over.
TEST_F(WaitingTest, WorkAfterTheWaitHasAllItsTime) {
  FallbackPolicy policy = ProbingOften();
  policy.wait_for_primary = absl::Milliseconds(500);
  Start(std::move(policy));
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 2);
  server_->GoAway();
  const Future<Literal> value = w->Fetch({});
  server_->Hold();
  server_->ComeBack();
  for (int i = 0; i < 10000 && server_->held() == 0; ++i) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  ASSERT_EQ(server_->held(), 1);
  absl::SleepFor(absl::Milliseconds(600));
  EXPECT_FALSE(value.ready());
  server_->AnswerHeld(absl::OkStatus());
  EXPECT_THAT(*value.Await(), LiteralBitEquals(Expected(2)));
}

TEST_F(WaitingTest, AQuickRestartIsReplayedWithoutAWait) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 5);
  server_->GoAway();
  server_->ComeBack();
  EXPECT_THAT(*Fetch(Step(step, w)), LiteralBitEquals(Expected(6)));
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(5)));
}

TEST_F(WaitingTest, ResultsOfOneChainAreOneReplay) {
  StartWithProbes();
  const auto both = Compile(SumAndProductModule());
  auto state = both->Execute({Data(), a_}, {});
  for (int i = 0; i < 3 && state.ok(); ++i) {
    state = both->Execute({(*state)[0], (*state)[1]}, {});
  }
  ASSERT_OK(state);
  const auto sum = Fetch((*state)[0]), product = Fetch((*state)[1]);
  ASSERT_OK(sum);
  ASSERT_OK(product);
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  server_->ComeBack();
  AwaitReturn();
  const int before = server_->counts().executions;
  EXPECT_THAT(*Fetch((*state)[0]), LiteralBitEquals(*sum));
  EXPECT_THAT(*Fetch((*state)[1]), LiteralBitEquals(*product));
  EXPECT_EQ(server_->counts().executions - before, 4);
}

TEST_F(WaitingTest, TheCallersDeadlineEndsIt) {
  StartWaiting(absl::Minutes(2));
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 2);
  server_->GoAway();
  const auto soon = [] {
    return runtime::CallOptions{
        .cancel = CancelToken(absl::Now() + absl::Milliseconds(50))};
  };
  EXPECT_THAT(w->Fetch(soon()).Await(),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_THAT(step->Execute({w, a_, b_}, {.call = soon(), .donated = {}}),
              StatusIs(StatusCode::kDeadlineExceeded, token_));
}

TEST_F(WaitingTest, ThePolicyEndsItWithoutADeadline) {
  StartWaiting(absl::Milliseconds(50));
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 2);
  server_->GoAway();
  EXPECT_THAT(w->Fetch({}).Await(),
              StatusIs(StatusCode::kUnavailable, token_));
  EXPECT_THAT(step->Execute({w, a_, b_}, {}),
              StatusIs(StatusCode::kUnavailable, "did not come back in time"));
}

TEST_F(WaitingTest, AFailureIsNotFinal) {
  FallbackPolicy policy = ProbingOften();
  policy.wait_for_primary = absl::ZeroDuration();
  Start(policy);
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 4);
  server_->GoAway();
  EXPECT_THAT(w->Fetch({}).Await(), StatusIs(StatusCode::kUnavailable, token_));
  server_->ComeBack();
  AwaitReturn();
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(4)));
}

TEST_F(WaitingTest, ADatasetThatIsGoneAfterTheReturnIsSaid) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 4);
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  const Future<Literal> value = w->Fetch(Patient());
  server_->KeepDatasets(false);
  server_->ComeBack();
  EXPECT_THAT(value.Await(), StatusIs(StatusCode::kNotFound, token_));
}

// It is there and has said why not: waiting would change nothing.
TEST_F(WaitingTest, WhatThePrimaryRefusesIsNotAskedAgainAndAgain) {
  StartWithProbes();
  server_->Refuse("step", Unimplemented("no such op"));
  const auto step = Compile();
  const BufferPtr data = Data();
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(step->Execute({data, a_, b_}, {}),
                StatusIs(StatusCode::kUnimplemented, "no such op"));
    EXPECT_THAT(step->Call({data, a_, b_}, {}).Await(),
                StatusIs(StatusCode::kUnimplemented, "no such op"));
  }
  const auto other = Compile(StepModule("other"));
  const int before = server_->counts().executions;
  server_->FailNext(ResourceExhausted("full"));
  EXPECT_THAT(other->Execute({data, a_, b_}, {}),
              StatusIs(StatusCode::kResourceExhausted, "full"));
  server_->FailNext(ResourceExhausted("full"));
  EXPECT_THAT(other->Call({data, a_, b_}, {}).Await(),
              StatusIs(StatusCode::kResourceExhausted, "full"));
  server_->PoisonNext(ResourceExhausted("full"));
  EXPECT_THAT(Step(other, data)->Fetch({}).Await(),
              StatusIs(StatusCode::kResourceExhausted, "full"));
  EXPECT_EQ(server_->counts().executions - before, 3);
  EXPECT_THAT(*Fetch(Step(other, data)), LiteralBitEquals(Expected(1)));
}

TEST_F(WaitingTest, TheClientMayGoMeanwhile) {
  StartWaiting(absl::Minutes(2));
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 2);
  server_->GoAway();
  const Future<Literal> value = w->Fetch({});
  absl::Status executed;
  std::thread waiting(
      [&] { executed = step->Execute({w, a_, b_}, {}).status(); });
  absl::SleepFor(absl::Milliseconds(20));
  const absl::Time start = absl::Now();
  client_ = nullptr;
  waiting.join();
  EXPECT_LT(absl::Now() - start, absl::Seconds(10));
  EXPECT_FALSE(executed.ok());
  EXPECT_FALSE(value.Await().ok());
}

TEST_F(WaitingTest, AFrozenDatasetOnADiskIsWaitedFor) {
  FallbackPolicy policy = ProbingOften();
  policy.checkpoint_bytes = 0;
  Start(policy);
  const auto step = Compile();
  const BufferPtr w = Steps(step, Data(), 2);
  const auto frozen = client_->datasets().Freeze({{"", w}}, Patient());
  ASSERT_OK(frozen);
  const auto opened = client_->datasets().Open({frozen->token, ""}, Patient());
  ASSERT_OK(opened);
  const BufferPtr next = Step(step, *opened);
  server_->GoAway();
  const Future<Literal> value = next->Fetch(Patient());
  server_->ComeBack();
  EXPECT_THAT(*value.Await(), LiteralBitEquals(Expected(3)));
}

}  // namespace
}  // namespace hawser
