// Streams that break, servers that forget, servers that are gone.
#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

using ReattachTest = RemoteTest;

// Waits for what the alarm does soon.
bool Eventually(const std::function<bool()>& holds) {
  const absl::Time deadline = absl::Now() + absl::Seconds(10);
  while (!holds() && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(2));
  }
  return holds();
}

TEST_F(ReattachTest, CutStreamIsReattachedAndNothingRunsTwice) {
  auto plus_one = CompilePlusOne();
  BufferPtr x = *Step(*plus_one, Filled(2, 0));
  for (int i = 1; i < 300; ++i) {
    if (i % 60 == 0) server.CutStreams();
    auto next = Step(*plus_one, x, Soon());
    ASSERT_OK(next);
    x = *next;
  }
  ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(x));
  EXPECT_THAT(value, LiteralEquals(Filled(2, 300)));
  EXPECT_EQ(server.counts().executes, 300);
  EXPECT_EQ(server.counts().gaps, 0);
  EXPECT_EQ(server.counts().opens, 1);
  EXPECT_GE(server.counts().reattaches, 1);
}

TEST_F(ReattachTest, LostAnswersAreSentAgainAndTakenOnce) {
  auto plus_one = CompilePlusOne();
  server.SwallowReplies(2);
  BufferPtr a = *Step(*plus_one, Filled(2, 1));
  BufferPtr b = *Step(*plus_one, Filled(2, 2));
  BufferPtr c = *Step(*plus_one, Filled(2, 3));
  ASSERT_OK(FetchOf(c));  // the third answer arrived
  EXPECT_FALSE(a->Fetch({}).ready());
  server.CutStreams();
  ASSERT_OK_AND_ASSIGN(const Literal first, FetchOf(a));
  EXPECT_THAT(first, LiteralEquals(Filled(2, 2)));
  ASSERT_OK(FetchOf(b));
  EXPECT_EQ(server.counts().executes, 3);
}

TEST_F(ReattachTest, UseWhileBrokenWaitsInTheQueue) {
  auto plus_one = CompilePlusOne();
  server.CutStreams();
  auto y = Step(*plus_one, Filled(2, 7));
  ASSERT_OK(y);
  ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(*y));
  EXPECT_THAT(value, LiteralEquals(Filled(2, 8)));
  EXPECT_EQ(server.counts().reattaches, 1);
}

TEST_F(ReattachTest, RestartedServerMeansSessionLost) {
  auto plus_one = CompilePlusOne();
  BufferPtr old = *Step(*plus_one, Filled(2, 1));
  BufferPtr fetched = *Step(*plus_one, Filled(2, 10));
  ASSERT_OK(FetchOf(fetched));
  ASSERT_OK(FetchOf(old));
  ASSERT_OK_AND_ASSIGN(BufferPtr uploaded, client->Upload(Filled(2, 3), {}));
  ASSERT_OK(FetchOf(uploaded));
  server.Restart();
  EXPECT_THAT(FetchOf(uploaded),
              StatusIs(absl::StatusCode::kUnavailable, "session lost"));
  // What has come over stays.
  EXPECT_OK(FetchOf(fetched));
  EXPECT_THAT(Step(*plus_one, uploaded),
              StatusIs(absl::StatusCode::kUnavailable, "session lost"));
}

TEST_F(ReattachTest, ExecutablesSurviveTheirSession) {
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr y, Step(*plus_one, Filled(2, 1)));
  ASSERT_OK(FetchOf(y));
  server.Restart();
  ASSERT_TRUE(Eventually([&] {
    auto z = Step(*plus_one, Filled(2, 4));
    return z.ok() && FetchOf(*z).ok();
  }));
  EXPECT_EQ(server.counts().opens, 2);
  EXPECT_EQ(server.counts().bodies, 2);
  // Compile of a known module works in the new session, too.
  EXPECT_OK(client->Compile(PlusOneModule({2}), {}, Soon()));
  EXPECT_EQ(server.counts().bodies, 2);
}

TEST_F(ReattachTest, OutstandingWorkFailsWithTheSession) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  Future<Literal> waiting = y->Fetch(Soon());
  ASSERT_TRUE(server.WaitForExecutes(1));
  server.Restart();
  EXPECT_THAT(waiting.Await(),
              StatusIs(absl::StatusCode::kUnavailable, "session lost"));
}

TEST_F(ReattachTest, DeadServerIsGivenUpAtOnce) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  ASSERT_TRUE(server.WaitForExecutes(1));
  const absl::Time start = absl::Now();
  server.Refuse(true);
  EXPECT_THAT(FetchOf(y),
              StatusIs(absl::StatusCode::kUnavailable, "nobody listens"));
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
  EXPECT_THAT(client->Compile(PlusOneModule({5}), {}, Soon()),
              StatusIs(absl::StatusCode::kUnavailable, "fake:1"));
  EXPECT_THAT(plus_one->Call({Filled(2, 1)}, Soon()).Await(),
              StatusIs(absl::StatusCode::kUnavailable, "fake"));
}

TEST_F(ReattachTest, ServerThatComesBackIsUsedAgain) {
  server.Refuse(true);
  EXPECT_THAT(client->capabilities(),
              StatusIs(absl::StatusCode::kUnavailable, "cannot be reached"));
  server.Refuse(false);
  ASSERT_TRUE(Eventually([&] { return client->capabilities().ok(); }));
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr y, Step(*plus_one, Filled(2, 1)));
  EXPECT_OK(FetchOf(y));
}

TEST_F(ReattachTest, RefusedRequestEndsTheSessionWithItsReason) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  ASSERT_TRUE(server.WaitForExecutes(1));
  server.CloseStreams(ResourceExhausted("too much of it"));
  EXPECT_THAT(FetchOf(y),
              StatusIs(absl::StatusCode::kUnavailable, "too much of it"));
  EXPECT_EQ(server.counts().reattaches, 0);
}

TEST_F(ReattachTest, ReattachingEndsWhenTheUserSaysSo) {
  RemoteOptions options;
  options.reattach_for = absl::Milliseconds(100);
  options.connect_timeout = absl::Milliseconds(50);
  client = Connect(options);
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  server.CutStreams();
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  EXPECT_THAT(
      FetchOf(y),
      StatusIs(absl::StatusCode::kUnavailable, "could not reattach within"));
  server.Freeze(false);
}

class ShortLeaseTest : public RemoteTest {
 protected:
  ShortLeaseTest() : RemoteTest(absl::Milliseconds(300)) {}
};

TEST_F(ShortLeaseTest, PingsKeepItAlive) {
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr y, Step(*plus_one, Filled(2, 1)));
  absl::SleepFor(absl::Milliseconds(700));
  EXPECT_GE(server.counts().pings, 3);
  ASSERT_OK_AND_ASSIGN(BufferPtr z, Step(*plus_one, y));
  EXPECT_OK(FetchOf(z));
  EXPECT_EQ(server.counts().opens, 1);
}

TEST_F(ShortLeaseTest, SilentServerLosesTheSession) {
  auto plus_one = CompilePlusOne();
  server.Freeze(true);
  BufferPtr y = *Step(*plus_one, Filled(2, 1));
  EXPECT_THAT(FetchOf(y),
              StatusIs(absl::StatusCode::kUnavailable, "nothing heard"));
  server.Freeze(false);
}

}  // namespace
}  // namespace hawser
