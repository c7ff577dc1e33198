// Ping: OK exactly when the server answers now.
#include <thread>

#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;

class PingTest : public RemoteTest {
 protected:
  ~PingTest() override { server.Freeze(false); }
  // Asks until it says so, as the breaker's probes do.
  absl::Status PingUntilOk() {
    const absl::Time deadline = absl::Now() + absl::Seconds(10);
    absl::Status status = client->Ping(Soon());
    while (!status.ok() && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(5));
      status = client->Ping(Soon());
    }
    return status;
  }
  // What a ping says during which `fault` meets the server.
  template <typename Fault>
  absl::Status PingDuring(Fault fault) {
    server.Freeze(true);
    absl::Status status;
    std::thread asking([&] { status = client->Ping(Soon()); });
    EXPECT_TRUE(server.WaitForTasks(1));
    fault();
    server.Freeze(false);
    asking.join();
    return status;
  }
};

TEST_F(PingTest, OpensTheSessionAndIsOneRequest) {
  EXPECT_OK(client->Ping(Soon()));
  EXPECT_EQ(server.counts().opens, 1);
  EXPECT_EQ(server.counts().pings, 1);
  EXPECT_OK(client->Ping({}));
  EXPECT_EQ(server.counts().pings, 2);
  EXPECT_EQ(server.counts().opens, 1);
}

TEST_F(PingTest, FullWindowDoesNotHoldItUp) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  std::vector<BufferPtr> held;
  for (int i = 0; i < 64; ++i) held.push_back(*Step(*plus_one, Filled(2, i)));
  EXPECT_OK(client->Ping(Soon()));
  server.HoldExecutes(false);
}

TEST_F(PingTest, FrozenServerIsADeadline) {
  ASSERT_OK(client->Ping(Soon()));
  server.Freeze(true);
  EXPECT_THAT(client->Ping(Within(absl::Milliseconds(80))),
              StatusIs(StatusCode::kDeadlineExceeded, "fake:1"));
  runtime::CallOptions call = Soon();
  call.attempt_timeout = absl::Milliseconds(80);
  EXPECT_THAT(client->Ping(call),
              StatusIs(StatusCode::kDeadlineExceeded, "attempt"));
  call.cancel.Cancel();
  EXPECT_THAT(client->Ping(call), StatusIs(StatusCode::kCancelled, "fake:1"));
  server.Freeze(false);
  EXPECT_OK(client->Ping(Soon()));  // the session was never lost
  EXPECT_EQ(server.counts().opens, 1);
}

TEST_F(PingTest, NobodyListensIsUnavailableUntilSomebodyDoes) {
  server.Refuse(true);
  EXPECT_THAT(client->Ping(Soon()),
              StatusIs(StatusCode::kUnavailable, "cannot be reached"));
  server.Refuse(false);
  EXPECT_OK(PingUntilOk());
  EXPECT_THAT(PingDuring([&] { server.Refuse(true); }),
              StatusIs(StatusCode::kUnavailable, "session lost"));
  server.Refuse(false);
  EXPECT_OK(PingUntilOk());
}

TEST_F(PingTest, LostSessionIsUnavailableOnceThenANewOneIsAsked) {
  ASSERT_OK(client->Ping(Soon()));
  EXPECT_THAT(PingDuring([&] { server.Restart(); }),
              StatusIs(StatusCode::kUnavailable, "session lost"));
  EXPECT_OK(PingUntilOk());
  EXPECT_EQ(server.counts().opens, 2);
}

TEST_F(PingTest, CutStreamIsReattachedFirst) {
  ASSERT_OK(client->Ping(Soon()));
  server.CutStreams();
  EXPECT_OK(client->Ping(Soon()));
  EXPECT_EQ(server.counts().reattaches, 1);
  EXPECT_EQ(server.counts().opens, 1);
}

TEST_F(PingTest, StreamThatStaysAwayIsUnavailable) {
  RemoteOptions options;
  options.connect_timeout = absl::Milliseconds(100);
  client = Connect(options);
  ASSERT_OK(client->Ping(Soon()));
  server.Freeze(true);  // connections stand, answers do not come
  server.CutStreams();
  EXPECT_THAT(client->Ping(Soon()),
              StatusIs(StatusCode::kUnavailable, "no stream for 100ms"));
}

TEST_F(PingTest, DestructionCannotBeHeldByAnEarlierOne) {
  ASSERT_OK(client->Ping(Soon()));
  server.Freeze(true);
  EXPECT_THAT(client->Ping(Within(absl::Milliseconds(40))),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  const absl::Time start = absl::Now();
  client.reset();
  EXPECT_LT(absl::Now() - start, absl::Seconds(2));
}

}  // namespace
}  // namespace hawser
