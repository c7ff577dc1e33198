// What a RemoteClient does when the link is good.
#include <thread>

#include "absl/strings/str_cat.h"
#include "core/ir/leaves.h"
#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

using RemoteClientTest = RemoteTest;

TEST_F(RemoteClientTest, NothingIsOpenedBeforeItIsUsed) {
  absl::SleepFor(absl::Milliseconds(60));
  EXPECT_EQ(server.counts().opens, 0);
  EXPECT_EQ(client->name(), "fake:1");
}

TEST_F(RemoteClientTest, CapabilitiesComeFromTheServer) {
  ASSERT_OK_AND_ASSIGN(const runtime::Capabilities capabilities,
                       client->capabilities());
  EXPECT_EQ(capabilities.platform, "fake");
  EXPECT_EQ(server.counts().opens, 1);
}

TEST_F(RemoteClientTest, RunsAndSaysWhere) {
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr y,
                       Step(*plus_one, Literal::Vector<float>({1, 2})));
  ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(y));
  EXPECT_THAT(value, LiteralEquals(Literal::Vector<float>({2, 3})));
  EXPECT_EQ(y->ran_on(), "fake:1 fake");
  EXPECT_EQ(y->client(), client.get());
  // It came along with the answer of Execute.
  EXPECT_EQ(server.counts().fetches, 0);
}

TEST_F(RemoteClientTest, ChainOfHundredSendsOnlyItsSteps) {
  auto plus_one = CompilePlusOne();
  BufferPtr x;
  ASSERT_OK_AND_ASSIGN(x, Step(*plus_one, Filled(2, 0)));
  for (int i = 1; i < 100; ++i) {
    ASSERT_OK_AND_ASSIGN(x, Step(*plus_one, x));
  }
  ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(x));
  EXPECT_THAT(value, LiteralEquals(Filled(2, 100)));
  EXPECT_EQ(server.counts().executes, 100);
  EXPECT_EQ(server.counts().gaps, 0);
  EXPECT_EQ(server.counts().fetches, 0);
  // All but the last were given back on the way.
  EXPECT_TRUE(server.WaitForHandles(1));
  x.reset();
  EXPECT_TRUE(server.WaitForHandles(0));
}

TEST_F(RemoteClientTest, ManyThreadsShareTheStream) {
  auto plus_one = CompilePlusOne();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        auto y = Step(*plus_one, Filled(2, 100 * t + i));
        ASSERT_OK(y);
        ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(*y));
        EXPECT_THAT(value, LiteralEquals(Filled(2, 100 * t + i + 1)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto applied = server.applied();
  for (size_t i = 0; i < applied.size(); ++i) EXPECT_EQ(applied[i], i + 1);
}

TEST_F(RemoteClientTest, SeveralResults) {
  ASSERT_OK_AND_ASSIGN(auto executable,
                       client->Compile(PlusOneModule({1}, 3), {}, Soon()));
  ASSERT_OK_AND_ASSIGN(
      auto results,
      executable->Execute({Filled(1, 1), Filled(1, 2), Filled(1, 3)}, {}));
  ASSERT_EQ(results.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(results[i]));
    EXPECT_THAT(value, LiteralEquals(Filled(1, i + 2)));
  }
}

TEST_F(RemoteClientTest, FirstErrorTravelsAlongTheChain) {
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr x, Step(*plus_one, Filled(2, -5)));
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK_AND_ASSIGN(x, Step(*plus_one, x));
  }
  EXPECT_THAT(FetchOf(x),
              StatusIs(absl::StatusCode::kInvalidArgument, "below zero"));
}

TEST_F(RemoteClientTest, ArgumentsAreCheckedHere) {
  auto plus_one = CompilePlusOne();
  EXPECT_THAT(plus_one->Execute({}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "takes 1"));
  EXPECT_THAT(Step(*plus_one, Filled(3, 0)),
              StatusIs(absl::StatusCode::kInvalidArgument, "f32[3]"));
  EXPECT_THAT(
      plus_one->Execute({Filled(2, 0)}, {.donated = {1}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "donated argument 1"));
  EXPECT_EQ(server.counts().executes, 0);
}

TEST_F(RemoteClientTest, ForeignBufferNamesBothClients) {
  FakeServer other_server(absl::Seconds(60), "fake:2");
  auto other = MakeRemoteClient(other_server.NewTransport(), {});
  ASSERT_OK_AND_ASSIGN(BufferPtr foreign, other->Upload(Filled(2, 1), {}));
  auto plus_one = CompilePlusOne();
  EXPECT_THAT(
      Step(*plus_one, foreign),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "argument 0 lives on fake:2, not on fake:1"));
}

TEST_F(RemoteClientTest, DonatedBufferIsNotUsedAgain) {
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(Filled(2, 1), Soon()));
  ASSERT_OK_AND_ASSIGN(auto y, plus_one->Execute({x}, {.donated = {0}}));
  ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(y[0]));
  EXPECT_THAT(value, LiteralEquals(Filled(2, 2)));
  EXPECT_THAT(Step(*plus_one, x),
              StatusIs(absl::StatusCode::kFailedPrecondition, "donated"));
  EXPECT_THAT(FetchOf(x),
              StatusIs(absl::StatusCode::kFailedPrecondition, "donated"));
}

TEST_F(RemoteClientTest, KnownModuleIsSentOnce) {
  const auto module = PlusOneModule({2});
  for (int i = 0; i < 3; ++i) EXPECT_OK(client->Compile(module, {}, Soon()));
  // The same graph in another object.
  EXPECT_OK(client->Compile(PlusOneModule({2}), {}, Soon()));
  EXPECT_EQ(server.counts().compiles, 1);
  EXPECT_OK(client->Compile(PlusOneModule({3}), {}, Soon()));
  EXPECT_EQ(server.counts().compiles, 2);
}

TEST_F(RemoteClientTest, LargeModuleIsAskedForFirst) {
  auto module = std::make_shared<Module>("large");
  Computation computation("main");
  std::vector<ValueId> results;
  Literal big = Literal::Zeros(Shape::Of(DType::kF32, {4096}));
  for (int i = 0; i < 2; ++i) {
    results = {*computation.Append(*module, kConstant, {}, {{"value", big}})};
  }
  ASSERT_OK(computation.SetResults(results));
  module->Add(std::move(computation));
  EXPECT_OK(client->Compile(module, {}, Soon()));
  EXPECT_EQ(server.counts().compiles, 2);  // NOT_FOUND, then with the body
  EXPECT_EQ(server.counts().bodies, 1);
  auto second = Connect();
  EXPECT_OK(second->Compile(module, {}, Soon()));
  EXPECT_EQ(server.counts().bodies, 1);
}

TEST_F(RemoteClientTest, WhatTheServerLacksIsNotSent) {
  runtime::Capabilities capabilities;
  capabilities.platform = "old";
  capabilities.dtypes = kInts;
  server.set_capabilities(capabilities);
  EXPECT_THAT(client->Compile(PlusOneModule({2}), {}, Soon()),
              StatusIs(absl::StatusCode::kUnimplemented, "dtype f32"));
  capabilities.dtypes = kAnyDType;
  capabilities.limits.bytes = 4;
  server.set_capabilities(capabilities);
  auto small = Connect();
  EXPECT_THAT(small->Compile(PlusOneModule({2}), {}, Soon()),
              StatusIs(absl::StatusCode::kResourceExhausted, "bytes"));
  EXPECT_EQ(server.counts().compiles, 0);
}

TEST_F(RemoteClientTest, WindowHoldsBackAndOpensAgain) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  std::vector<BufferPtr> results;
  for (int i = 0; i < 128; ++i) {
    auto y = Step(*plus_one, Filled(2, i));
    ASSERT_OK(y);
    results.push_back(*y);
  }
  EXPECT_THAT(Step(*plus_one, Filled(2, 0), Within(absl::Milliseconds(60))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "fake:1"));
  runtime::CallOptions attempt;
  attempt.attempt_timeout = absl::Milliseconds(60);
  EXPECT_THAT(Step(*plus_one, Filled(2, 0), attempt),
              StatusIs(absl::StatusCode::kResourceExhausted, "window of 128"));
  std::thread opener([&] {
    absl::SleepFor(absl::Milliseconds(50));
    server.HoldExecutes(false);
  });
  EXPECT_OK(Step(*plus_one, Filled(2, 0), Soon()));
  opener.join();
  for (int i = 0; i < 128; ++i) {
    ASSERT_OK_AND_ASSIGN(const Literal value, FetchOf(results[i]));
    EXPECT_THAT(value, LiteralEquals(Filled(2, i + 1)));
  }
}

TEST_F(RemoteClientTest, ReleasesTravelWithoutOtherMessages) {
  auto plus_one = CompilePlusOne();
  std::vector<BufferPtr> held;
  for (int i = 0; i < 10; ++i) {
    held.push_back(*Step(*plus_one, Filled(2, i)));
  }
  for (const BufferPtr& y : held) EXPECT_OK(FetchOf(y));
  EXPECT_EQ(server.live_handles(), 10);
  held.clear();
  EXPECT_TRUE(server.WaitForHandles(0));
  EXPECT_GE(server.counts().pings, 1);
}

TEST_F(RemoteClientTest, CallNeedsNoSession) {
  auto plus_one = CompilePlusOne();
  auto called = plus_one->Call({Filled(2, 1)}, Soon()).Await();
  ASSERT_OK(called);
  EXPECT_THAT(called->values[0], LiteralEquals(Filled(2, 2)));
  EXPECT_EQ(called->ran_on, "fake:1 fake");
  EXPECT_EQ(server.counts().bodies, 1);  // of Compile
  server.Restart();                      // forgets the module
  called = plus_one->Call({Filled(2, 5)}, Soon()).Await();
  ASSERT_OK(called);
  EXPECT_THAT(called->values[0], LiteralEquals(Filled(2, 6)));
  EXPECT_EQ(server.counts().bodies, 2);
}

TEST_F(RemoteClientTest, CallRefusesBuffersOfTheSession) {
  auto plus_one = CompilePlusOne();
  ASSERT_OK_AND_ASSIGN(BufferPtr x, client->Upload(Filled(2, 1), Soon()));
  EXPECT_THAT(plus_one->Call({x}, Soon()).Await(),
              StatusIs(absl::StatusCode::kFailedPrecondition, "use Execute"));
}

}  // namespace
}  // namespace hawser
