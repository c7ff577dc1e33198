// What makes the secondary take over, what does not, and who is told.
#include <string>
#include <utility>

#include "core/base/trace/trace.h"
#include "core/runtime/datasets.h"
#include "tests/client/fallback/fallback_fixture.h"
#include "tests/testing/trace_file.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;
using runtime::CallOptions;
using ::testing::HasSubstr;

TEST_F(FallbackTest, UsesThePrimaryWhileItAnswers) {
  Start();
  EXPECT_EQ(client_->name(), "fallback(server, cpu)");
  const BufferPtr result = Step(Compile(), w_);
  EXPECT_THAT(*Fetch(result), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(result->ran_on(), "server");
  EXPECT_EQ(client_->stats().switches, 0);
  EXPECT_EQ(client_->stats().secondary_runs, 0);
  EXPECT_EQ(cpu_->live_buffers(), 0);
  EXPECT_EQ(announced_, 0);
}

TEST_F(FallbackTest, ALostResultIsMadeAgain) {
  Start();
  const auto step = Compile();
  const BufferPtr one = Step(step, w_), two = Step(step, one);
  server_->GoAway();
  EXPECT_THAT(*Fetch(two), LiteralBitEquals(Expected(2)));
  EXPECT_THAT(*Fetch(one), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(two->ran_on(), "cpu (fallback: unreachable)");
  EXPECT_TRUE(two->ran_on().fallback);
  EXPECT_EQ(client_->stats().switches, 1);
  EXPECT_EQ(client_->stats().secondary_runs, 2);  // each step once
  EXPECT_EQ(announced_, 1);
}

TEST_F(FallbackTest, WhoWaitsFetchesNothing) {
  Start();
  const auto step = Compile();
  const BufferPtr one = Step(step, w_), two = Step(step, one);
  EXPECT_OK(one->Ready(Patient()).Await());
  EXPECT_EQ(one->ran_on(), "server");
  EXPECT_EQ(server_->counts().fetches, 0);
  EXPECT_EQ(cpu_->live_buffers(), 0);
  // Once the server is gone, who waits makes it here.
  server_->GoAway();
  EXPECT_OK(two->Ready(Patient()).Await());
  EXPECT_EQ(two->ran_on(), "cpu (fallback: unreachable)");
  EXPECT_EQ(client_->stats().switches, 1);
  EXPECT_THAT(*Fetch(two), LiteralBitEquals(Expected(2)));
}

TEST_F(FallbackTest, WhoWaitsHearsOfAnErrorAndOfItsDeadline) {
  Start();
  server_->PoisonNext(InvalidArgument("no such thing"));
  const BufferPtr bad = Step(Compile(), w_);
  EXPECT_THAT(bad->Ready(Patient()).Await(),
              StatusIs(StatusCode::kInvalidArgument, "no such thing"));
  server_->Hold();
  const BufferPtr slow = Step(Compile(), w_);
  runtime::CallOptions brief = Patient();
  brief.cancel = CancelToken(absl::Now() + absl::Milliseconds(20));
  EXPECT_THAT(slow->Ready(brief).Await(),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_EQ(client_->stats().switches, 0);
}

TEST_F(FallbackTest, TracesHaveTheSwitch) {
  const std::string path = ::testing::TempDir() + "/switch.json";
  ASSERT_OK(StartTrace(path));
  Start();
  const BufferPtr one = Step(Compile(), w_);
  server_->GoAway();
  EXPECT_THAT(*Fetch(one), LiteralBitEquals(Expected(1)));
  ASSERT_OK(StopTrace());
  const auto switches = TraceFile::Read(path).Named("falls back to cpu");
  ASSERT_EQ(switches.size(), 1);
  EXPECT_EQ(switches[0]["cat"], "fallback");
}

TEST_F(FallbackTest, EveryVerbWorksWithoutAPrimaryAndAsksItOnce) {
  server_->GoAway();
  Start();
  EXPECT_EQ(client_->capabilities()->platform, "cpu");
  EXPECT_OK(client_->Ping({}));
  const auto step = Compile();
  const auto uploaded = client_->Upload(w_, {});
  ASSERT_OK(uploaded);
  EXPECT_THAT(*Fetch(Step(step, *uploaded)), LiteralBitEquals(Expected(1)));
  const auto called = step->Call({*uploaded, a_, b_}, Patient()).Await();
  ASSERT_OK(called);
  EXPECT_THAT(called->values[0], LiteralBitEquals(Expected(1)));
  const auto info = client_->datasets().Put({{{"w", w_}}}, {});
  ASSERT_OK(info);
  EXPECT_OK(client_->datasets().Ask(StatDataset{info->token}, {}));
  const auto array = client_->datasets().Open({info->token, "w"}, {});
  ASSERT_OK(array);
  EXPECT_THAT(*Fetch(Step(step, *array)), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(client_->stats().switches, 1);
  EXPECT_EQ(server_->counts().compiles + server_->counts().uploads +
                server_->counts().puts + server_->counts().pings,
            0);  // capabilities() had found out
}

// Each on a client of its own, so that each is the first to find out.
TEST_F(FallbackTest, EveryVerbNoticesALostPrimary) {
  auto expect_switch = [this](const char* verb, auto call) {
    server_->ComeBack();
    Start();
    const auto step = Compile();
    server_->GoAway();
    EXPECT_OK(call(step)) << verb;
    EXPECT_EQ(client_->stats().switches, 1) << verb;
  };
  expect_switch("capabilities", [&](auto) { return client_->capabilities(); });
  expect_switch("Ping", [&](auto) { return client_->Ping({}); });
  expect_switch("Compile",
                [&](auto) { return client_->Compile(StepModule(), {}, {}); });
  expect_switch("Upload", [&](auto) { return client_->Upload(w_, {}); });
  expect_switch("PutDataset", [&](auto) {
    return client_->datasets().Put({{{"", w_}}}, {});
  });
  expect_switch("Execute", [&](const ExecutablePtr& step) {
    return step->Execute({w_, a_, b_}, {});
  });
  expect_switch("Call", [&](const ExecutablePtr& step) {
    return step->Call({w_, a_, b_}, {}).Await();
  });
}

TEST_F(FallbackTest, ABadGraphNeverFallsBack) {
  Start();
  const auto step = Compile();
  server_->FailNext(InvalidArgument("C1"));
  EXPECT_THAT(step->Execute({w_, a_, b_}, {}),
              StatusIs(StatusCode::kInvalidArgument, "C1"));
  server_->PoisonNext(InvalidArgument("C2"));
  EXPECT_THAT(Fetch(Step(step, w_)),
              StatusIs(StatusCode::kInvalidArgument, "C2"));
  server_->Refuse("bad", InvalidArgument("C3"));
  EXPECT_THAT(client_->Compile(StepModule("bad"), {}, {}),
              StatusIs(StatusCode::kInvalidArgument, "C3"));
  EXPECT_THAT(step->Execute({w_, a_}, {}),
              StatusIs(StatusCode::kInvalidArgument, "3 arguments, got 2"));
  EXPECT_THAT(step->Execute({w_, a_, b_}, {.call = {}, .donated = {3}}),
              StatusIs(StatusCode::kInvalidArgument, "argument 3 is donated"));
  EXPECT_EQ(client_->stats().secondary_runs, 0);
  EXPECT_EQ(client_->stats().switches, 0);
}

TEST_F(FallbackTest, TheCallersDeadlineIsAnsweredInTimeAndNeverFallsBack) {
  Start();
  const auto step = Compile();
  const BufferPtr result = Step(step, w_);
  server_->Hold();
  const CallOptions hasty{
      .cancel = CancelToken(absl::Now() + absl::Milliseconds(20)),
      .attempt_timeout = absl::Hours(1)};
  EXPECT_THAT(result->Fetch(hasty).Await(absl::Now() + absl::Seconds(30)),
              StatusIs(StatusCode::kDeadlineExceeded, "no answer in time"));
  EXPECT_THAT(
      step->Call({w_, a_, b_}, hasty).Await(absl::Now() + absl::Seconds(30)),
      StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_THAT(step->Execute({w_, a_, b_}, {.call = hasty, .donated = {}}),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  EXPECT_EQ(client_->stats().switches, 0);
  EXPECT_EQ(client_->stats().secondary_runs, 0);
}

// Also when the answer that comes too late would be a reason to fall back.
TEST_F(FallbackTest, WhoHasCancelledGetsNoFallback) {
  Start();
  const BufferPtr result = Step(Compile(), w_);
  server_->Hold();
  const CancelToken token = CancelToken::WithFlag();
  const auto answer = result->Fetch({.cancel = token});
  token.Cancel();
  server_->GoAway();
  EXPECT_THAT(answer.Await(), StatusIs(StatusCode::kUnavailable, ""));
  EXPECT_EQ(client_->stats().switches, 0);
}

TEST_F(FallbackTest, AnAttemptThatTakesTooLongFallsBack) {
  Start();
  const auto step = Compile();
  const BufferPtr result = Step(step, w_);
  server_->Hold();
  CallOptions options = Patient();
  options.attempt_timeout = absl::Milliseconds(20);
  EXPECT_THAT(*result->Fetch(options).Await(), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(result->ran_on(), "cpu (fallback: too slow)");
  EXPECT_EQ(client_->stats().switches, 1);
  server_->AnswerHeld(absl::OkStatus());  // too late, and no harm
}

TEST_F(FallbackTest, ThePolicysAttemptTimeoutCountsForCallsToo) {
  FallbackPolicy policy = NoProbes();
  policy.attempt_timeout = absl::Milliseconds(20);
  Start(policy);
  const auto step = Compile();
  server_->Hold();
  const auto called = step->Call({w_, a_, b_}, Patient()).Await();
  ASSERT_OK(called);
  EXPECT_THAT(called->values[0], LiteralBitEquals(Expected(1)));
  EXPECT_EQ(client_->stats().switches, 1);
}

// The step's own deadline poisoned the result; a fetch with more time, and
// with an attempt timeout, must not take that for a slow primary.
TEST_F(FallbackTest, ADeadlineOfTheStepIsNotTheFetchsAttempt) {
  Start();
  const auto step = Compile();
  server_->PoisonNext(DeadlineExceeded("the step had 1 s"));
  CallOptions options = Patient();
  options.attempt_timeout = absl::Hours(1);
  EXPECT_THAT(Step(step, w_)->Fetch(options).Await(),
              StatusIs(StatusCode::kDeadlineExceeded, "the step had 1 s"));
  EXPECT_EQ(client_->stats().switches, 0);
}

// But the step's attempt timeout is one, whenever the result is fetched.
TEST_F(FallbackTest, AnAttemptTimeoutOfTheStepPoisonsNobody) {
  Start();
  const auto step = Compile();
  server_->PoisonNext(DeadlineExceeded("the attempt had 1 ms"));
  const auto results = step->Execute(
      {w_, a_, b_},
      {.call = {.attempt_timeout = absl::Milliseconds(1)}, .donated = {}});
  ASSERT_OK(results);
  absl::SleepFor(absl::Milliseconds(2));
  EXPECT_THAT(*Fetch((*results)[0]), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(client_->stats().switches, 1);
}

TEST_F(FallbackTest, AFullPrimaryKeepsTheBreakerClosed) {
  Start();
  const auto step = Compile();
  for (int i = 0; i < 10; ++i) {
    server_->FailNext(ResourceExhausted("full"));
    EXPECT_THAT(*Fetch(Step(step, w_)), LiteralBitEquals(Expected(1)));
  }
  EXPECT_EQ(client_->stats().switches, 0);
  EXPECT_EQ(client_->stats().secondary_runs, 10);
  EXPECT_EQ(announced_, 1);  // not ten lines in the log
  EXPECT_EQ(Step(step, w_)->ran_on(), "server");
}

// A poisoned handle stays poisoned over there; the good value goes instead.
TEST_F(FallbackTest, AChainGoesOnOnThePrimaryAfterAPoisonedStep) {
  Start();
  const auto step = Compile();
  const BufferPtr one = Step(step, w_);
  server_->PoisonNext(ResourceExhausted("full"));
  const BufferPtr two = Step(step, one);
  EXPECT_THAT(*Fetch(two), LiteralBitEquals(Expected(2)));
  EXPECT_EQ(two->ran_on(), "cpu (fallback: full)");
  EXPECT_FALSE(one->ran_on().fallback);
  const BufferPtr three = Step(step, two);
  EXPECT_THAT(*Fetch(three), LiteralBitEquals(Expected(3)));
  EXPECT_EQ(three->ran_on(), "server");
}

TEST_F(FallbackTest, WhatThePrimaryCannotRunItIsNotAskedAgain) {
  Start();
  server_->Refuse("new", Unimplemented("op frobnicate, opset 1"));
  const auto refused = Compile(StepModule("new"));
  EXPECT_EQ(server_->counts().compiles, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(*Fetch(Step(refused, w_)), LiteralBitEquals(Expected(1)));
  }
  EXPECT_EQ(server_->counts().compiles, 1);
  EXPECT_EQ(server_->counts().executions, 0);
  EXPECT_EQ(announced_, 1);
  EXPECT_EQ(client_->stats().switches, 0);
  // Others go on over there, with values of both sides.
  const auto known = Compile();
  const BufferPtr mixed = Step(known, Step(refused, w_));
  EXPECT_THAT(*Fetch(mixed), LiteralBitEquals(Expected(2)));
  EXPECT_EQ(mixed->ran_on(), "server");
}

TEST_F(FallbackTest, UnimplementedSticksWhenItShowsAtExecuteOrCall) {
  Start();
  const auto executed = Compile(), called = Compile();
  server_->FailNext(Unimplemented("dtype f8"));
  EXPECT_OK(Fetch(Step(executed, w_)));
  server_->FailNext(Unimplemented("dtype f8"));
  EXPECT_OK(called->Call({w_, a_, b_}, {}).Await());
  EXPECT_EQ(server_->counts().executions, 2);
  EXPECT_OK(Fetch(Step(executed, w_)));
  EXPECT_OK(called->Call({w_, a_, b_}, {}).Await());
  EXPECT_EQ(server_->counts().executions, 2);
}

TEST_F(FallbackTest, TriggersThatAreOffPassTheErrorOn) {
  FallbackPolicy policy = NoProbes();
  policy.on_unavailable = policy.on_unimplemented = false;
  policy.on_resource_exhausted = policy.on_attempt_timeout = false;
  Start(policy);
  const auto step = Compile();
  server_->PoisonNext(ResourceExhausted("full"));
  EXPECT_THAT(Fetch(Step(step, w_)),
              StatusIs(StatusCode::kResourceExhausted, "full"));
  server_->FailNext(Unimplemented("no"));
  EXPECT_THAT(step->Execute({w_, a_, b_}, {}),
              StatusIs(StatusCode::kUnimplemented, "no"));
  EXPECT_OK(step->Execute({w_, a_, b_}, {}));  // and is asked again
  server_->GoAway();
  EXPECT_THAT(step->Execute({w_, a_, b_}, {}),
              StatusIs(StatusCode::kUnavailable, "connection refused"));
  EXPECT_EQ(client_->stats().secondary_runs, 0);
}

TEST_F(FallbackTest, DonationWorksOnBothSides) {
  Start();
  const auto step = Compile();
  BufferPtr w = *client_->Upload(w_, {});
  for (int i = 0; i < 5; ++i) w = Step(step, w, {0});
  server_->GoAway();  // none of the five values is anywhere now
  for (int i = 0; i < 5; ++i) w = Step(step, w, {0});
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(10)));
}

TEST_F(FallbackTest, ADonatedArgumentOfAFailedExecuteIsStillThere) {
  Start();
  const auto step = Compile();
  const BufferPtr w = *client_->Upload(w_, {});
  server_->FailNext(InvalidArgument("C1"));
  EXPECT_THAT(step->Execute({w, a_, b_}, {.call = {}, .donated = {0}}),
              StatusIs(StatusCode::kInvalidArgument, ""));
  EXPECT_OK(Fetch(w));
  EXPECT_EQ(w->ran_on(), "server");
  server_->FailNext(ResourceExhausted("full"));
  EXPECT_THAT(*Fetch(Step(step, w, {0})), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(Step(step, w)->ran_on(), "server");
}

TEST_F(FallbackTest, ResultsThatArePoisonedByALostLinkAreMadeAgain) {
  server_->PoisonWhenAway();
  Start();
  const auto step = Compile();
  const BufferPtr one = Step(step, w_);
  server_->GoAway();
  BufferPtr last = one;
  for (int i = 0; i < 3; ++i) last = Step(step, last);
  EXPECT_EQ(client_->stats().switches, 0);  // no call has looked yet
  EXPECT_THAT(*Fetch(last), LiteralBitEquals(Expected(4)));
  EXPECT_EQ(client_->stats().switches, 1);
}

// The link is lost while an answer is on its way; what comes is not about the
// graph but about a session that is no more.
TEST_F(FallbackTest, TheEchoOfALostSessionFallsBackToo) {
  Start();
  const auto step = Compile();
  const BufferPtr slow = Step(step, w_);
  server_->Hold();
  const auto pending = slow->Fetch(Patient());
  server_->FailNext(Unavailable("cut"));
  ASSERT_NE(Step(step, w_), nullptr);
  EXPECT_EQ(client_->stats().switches, 1);
  server_->AnswerHeld(NotFound("no handle 7"));
  EXPECT_THAT(*pending.Await(), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(client_->stats().switches, 1);
}

TEST_F(FallbackTest, BuffersOfOthersAreRefused) {
  Start();
  const auto step = Compile();
  auto other = MakeFallbackClient(server_, cpu_, NoProbes());
  for (const auto& foreign :
       {other->Upload(w_, {}), cpu_->Upload(w_, {}), server_->Upload(w_, {})}) {
    EXPECT_THAT(step->Execute({*foreign, a_, b_}, {}),
                StatusIs(StatusCode::kFailedPrecondition,
                         "argument 0 lives on another client"));
  }
}

}  // namespace
}  // namespace hawser
