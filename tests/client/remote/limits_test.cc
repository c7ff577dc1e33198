// Deadlines, cancels, frozen servers, and destruction in the middle of it.
#include <thread>

#include "core/runtime/datasets.h"
#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

// A call that was to end by `limit` did, with room for a busy machine.
constexpr absl::Duration kSlack = absl::Seconds(2);

class LimitsTest : public RemoteTest {
 protected:
  ~LimitsTest() override { server.Freeze(false); }
};

TEST_F(LimitsTest, FrozenServerCannotHoldAFetch) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  const absl::Time start = absl::Now();
  EXPECT_THAT(y->Fetch(Within(absl::Milliseconds(100))).Await(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "fake:1"));
  EXPECT_LT(absl::Now() - start, kSlack);
  server.Freeze(false);
  EXPECT_OK(FetchOf(y));  // it was not lost
}

TEST_F(LimitsTest, DeadlineOfExecuteReachesItsResults) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  BufferPtr y =
      *Step(*plus_one, Filled(2, 1), Within(absl::Milliseconds(100)));
  EXPECT_THAT(y->Fetch({}).Await(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "deadline"));
}

TEST_F(LimitsTest, AttemptTimeoutIsNotTheCallersDeadline) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  runtime::CallOptions call = Soon();
  call.attempt_timeout = absl::Milliseconds(80);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  EXPECT_THAT(y->Fetch(call).Await(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "attempt"));
  EXPECT_OK(call.cancel.Check());
}

TEST_F(LimitsTest, ASilentServerIsGivenUpByThoseWhoCanDoWithout) {
  RemoteOptions options;
  options.silence = absl::Milliseconds(200);
  auto patient = Connect(options);
  options.give_up_silent = true;
  auto hasty = Connect(options);
  ASSERT_OK(patient->Ping(Soon()));
  ASSERT_OK(hasty->Ping(Soon()));
  ASSERT_OK_AND_ASSIGN(const BufferPtr kept,
                       patient->Upload(Filled(2, 1), Soon()));
  ASSERT_OK_AND_ASSIGN(const BufferPtr lost, hasty->Upload(Filled(2, 1), {}));
  // What is asked before the silence and not answered fails for good.
  ASSERT_OK(kept->Ready(Soon()).Await());
  ASSERT_OK(lost->Ready(Soon()).Await());
  const absl::Time start = absl::Now();
  server.Freeze(true);
  EXPECT_THAT(lost->Fetch({}).Await(),
              StatusIs(absl::StatusCode::kUnavailable,
                       "fake:1: session lost: nothing heard for 200ms"));
  EXPECT_LT(absl::Now() - start, kSlack);
  // The other's calls end too, but its session and what it holds stay.
  EXPECT_THAT(kept->Fetch(Soon()).Await(),
              StatusIs(absl::StatusCode::kUnavailable,
                       "fake:1: has said nothing for 200ms"));
  server.Freeze(false);
  EXPECT_OK(kept->Fetch(Soon()).Await());
}

TEST_F(LimitsTest, AServerThatAnswersPingsIsNotSilent) {
  RemoteOptions options;
  options.silence = absl::Milliseconds(100);
  options.give_up_silent = true;
  client = Connect(options);
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);  // as by an execution that takes long
  const BufferPtr y = *Step(*plus_one, Filled(2, 1));
  const Future<Literal> value = y->Fetch(Soon());
  const int before = server.counts().pings;
  absl::SleepFor(absl::Milliseconds(500));
  EXPECT_FALSE(value.ready());
  EXPECT_GE(server.counts().pings, before + 2);
  server.HoldExecutes(false);
  EXPECT_OK(value.Await());
}

TEST_F(LimitsTest, ACallOnASilentServerIsGivenUpToo) {
  RemoteOptions options;
  options.silence = absl::Milliseconds(200);
  options.give_up_silent = true;
  client = Connect(options);
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  const absl::Time start = absl::Now();
  EXPECT_THAT(plus_one->Call({Filled(2, 1)}, {}).Await(),
              StatusIs(absl::StatusCode::kUnavailable,
                       "fake:1: session lost: nothing heard for 200ms"));
  EXPECT_LT(absl::Now() - start, kSlack);
  server.Freeze(false);
}

// Nothing is asked in the session meanwhile.
TEST_F(LimitsTest, AFetchOfADatasetFromASilentServerIsGivenUp) {
  RemoteOptions options;
  options.silence = absl::Milliseconds(200);
  options.give_up_silent = true;
  client = Connect(options);
  ASSERT_OK(client->Ping(Soon()));
  const auto info = client->datasets().Put({{{"", Filled(2, 1)}}}, Soon());
  ASSERT_OK(info);
  const auto data = client->datasets().Open({info->token, ""}, Soon());
  ASSERT_OK(data);
  const absl::Time start = absl::Now();
  server.Freeze(true);
  EXPECT_THAT((*data)->Fetch({}).Await(SteadyNow() + absl::Seconds(20)),
              StatusIs(absl::StatusCode::kUnavailable, "fake:1"));
  EXPECT_LT(absl::Now() - start, kSlack);
  server.Freeze(false);
}

TEST_F(LimitsTest, ACallThatTakesLongOnAServerThatAnswersPingsGoesOn) {
  RemoteOptions options;
  options.silence = absl::Milliseconds(100);
  options.give_up_silent = true;
  client = Connect(options);
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  const auto answer = plus_one->Call({Filled(2, 1)}, Soon());
  const int before = server.counts().pings;
  absl::SleepFor(absl::Milliseconds(500));
  EXPECT_FALSE(answer.ready());
  EXPECT_GE(server.counts().pings, before + 2);
  server.HoldExecutes(false);
  EXPECT_OK(answer.Await());
}

TEST_F(LimitsTest, FrozenBeforeItWasEverOpen) {
  server.Freeze(true);
  const absl::Time start = absl::Now();
  EXPECT_THAT(client->Compile(PlusOneModule({2}), {},
                              Within(absl::Milliseconds(100))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "fake:1"));
  EXPECT_LT(absl::Now() - start, kSlack);
  RemoteOptions options;
  options.connect_timeout = absl::Milliseconds(100);
  auto hasty = Connect(options);
  EXPECT_THAT(hasty->capabilities(),
              StatusIs(absl::StatusCode::kUnavailable, "no answer within"));
}

TEST_F(LimitsTest, CancelEndsAWait) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  runtime::CallOptions call;
  call.cancel = CancelToken::WithFlag();
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  Future<Literal> fetched = y->Fetch(call);
  std::thread canceller([&] {
    absl::SleepFor(absl::Milliseconds(30));
    call.cancel.Cancel();
  });
  EXPECT_THAT(fetched.Await(),
              StatusIs(absl::StatusCode::kCancelled, "by the caller"));
  canceller.join();
  EXPECT_THAT(Step(*plus_one, Filled(2, 1), call),
              StatusIs(absl::StatusCode::kCancelled, "by the caller"));
}

TEST_F(LimitsTest, CallEndsAtItsLimits) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  EXPECT_THAT(
      plus_one->Call({Filled(2, 1)}, Within(absl::Milliseconds(80))).Await(),
      StatusIs(absl::StatusCode::kDeadlineExceeded, "fake"));
  runtime::CallOptions call;
  call.cancel = CancelToken::WithFlag();
  auto future = plus_one->Call({Filled(2, 1)}, call);
  call.cancel.Cancel();
  EXPECT_THAT(future.Await(), StatusIs(absl::StatusCode::kCancelled, ""));
}

TEST_F(LimitsTest, AFetchIntoMemoryEndsAtItsLimits) {
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client->datasets().Put({{{"", Filled(9 << 20, 1)}}}, {}));
  std::vector<char> room(info.bytes);
  const auto fetch = [&](const runtime::CallOptions& call) {
    return client->datasets().FetchInto({info.token, "", std::nullopt},
                                        absl::MakeSpan(room), call);
  };
  EXPECT_OK(fetch({}));
  server.Freeze(true);
  EXPECT_THAT(fetch(Within(absl::Milliseconds(80))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  EXPECT_THAT(fetch({.attempt_timeout = absl::Milliseconds(80)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  runtime::CallOptions call;
  call.cancel = CancelToken::WithFlag();
  std::thread canceller([&] { call.cancel.Cancel(); });
  EXPECT_THAT(fetch(call), StatusIs(absl::StatusCode::kCancelled, ""));
  canceller.join();
}

TEST_F(LimitsTest, BulkTransfersEndAtTheirLimits) {
  ASSERT_OK(client->capabilities());
  ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(Filled(1 << 18, 1), {}));
  ASSERT_OK(FetchOf(x));
  server.Freeze(true);
  EXPECT_THAT(x->Fetch(Within(absl::Milliseconds(80))).Await(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
  EXPECT_THAT(client->datasets().Put({{{"", Filled(1 << 18, 1)}}},
                                     Within(absl::Milliseconds(80))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ""));
}

TEST_F(LimitsTest, DestructionFailsWhatIsOutstanding) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  Future<Literal> small = (*Step(*plus_one, Filled(2, 1)))->Fetch({});
  Future<Literal> upload = (*client->Upload(Filled(1 << 18, 1), {}))->Fetch({});
  plus_one.reset();
  const absl::Time start = absl::Now();
  client.reset();
  EXPECT_LT(absl::Now() - start, kSlack);
  EXPECT_THAT(small.Await(), StatusIs(absl::StatusCode::kCancelled, "closed"));
  EXPECT_THAT(upload.Await(), StatusIs(absl::StatusCode::kCancelled, ""));
}

TEST_F(LimitsTest, DestructionDuringADownload) {
  ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(Filled(1 << 18, 1), {}));
  ASSERT_OK(FetchOf(x));
  Future<Literal> fetched = x->Fetch({});
  x.reset();
  client.reset();
  EXPECT_TRUE(fetched.ready());  // one way or the other
}

TEST_F(LimitsTest, LastReferenceMayGoInACallback) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  ASSERT_TRUE(server.WaitForExecutes(1));
  Promise<int> done;
  Future<int> gone = done.future();
  auto promise = std::make_shared<Promise<int>>(std::move(done));
  Future<Literal> fetched = y->Fetch({});
  fetched.OnReady([held = std::make_shared<BufferPtr>(std::move(y)),
                   promise](const auto&) {
    held->reset();  // the client's last owner, on its own callback thread
    promise->Set(1);
  });
  plus_one.reset();
  client.reset();
  server.HoldExecutes(false);
  EXPECT_OK(gone.Await(absl::Now() + absl::Seconds(10)));
  EXPECT_OK(fetched.Await());
  EXPECT_TRUE(server.WaitForGoodbyes(1));
  EXPECT_TRUE(server.WaitForHandles(0));
}

TEST_F(LimitsTest, GoodbyeFreesTheSessionAtOnce) {
  auto plus_one = CompilePlusOne();
  std::vector<BufferPtr> held;
  for (int i = 0; i < 5; ++i) held.push_back(*Step(*plus_one, Filled(2, i)));
  for (const BufferPtr& y : held) ASSERT_OK(FetchOf(y));
  plus_one.reset();
  client.reset();  // the buffers keep it
  EXPECT_OK(FetchOf(held[0]));
  held.clear();
  EXPECT_EQ(server.counts().goodbyes, 1);
  EXPECT_EQ(server.live_handles(), 0);
}

}  // namespace
}  // namespace hawser
