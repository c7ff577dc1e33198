// The window: 128 requests or 16 MiB without an answer; a caller that wants
// more waits, within his limits.
#include <thread>
#include <vector>

#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

// An argument that just rides inside its request.
constexpr int64_t kInlineFloats = 16384;  // 64 KiB
constexpr int kWindow = 128;

class WindowTest : public RemoteTest {
 protected:
  ~WindowTest() override { server.HoldExecutes(false); }

  // A program of so many arguments of 64 KiB.
  std::shared_ptr<runtime::Executable> CompileWide(int arguments) {
    auto executable = client->Compile(
        PlusOneModule({kInlineFloats}, arguments), {}, Soon());
    EXPECT_OK(executable);
    return *executable;
  }
  static absl::StatusOr<std::vector<BufferPtr>> Run(
      runtime::Executable& wide, int arguments, runtime::CallOptions call) {
    const std::vector<runtime::Argument> values(arguments,
                                                Filled(kInlineFloats, 1));
    return wide.Execute(values, {.call = std::move(call)});
  }
  static runtime::CallOptions Attempt(absl::Duration duration) {
    runtime::CallOptions call;
    call.attempt_timeout = duration;
    return call;
  }
  // Takes every place there is.
  void FillWindow(runtime::Executable& plus_one) {
    for (int i = 0; i < kWindow; ++i) {
      ASSERT_OK_AND_ASSIGN(held_.emplace_back(),
                           Step(plus_one, Filled(2, i)));
    }
  }

  std::vector<BufferPtr> held_;
};

TEST_F(WindowTest, BytesFillItToo) {
  // 30 x 64 KiB in a request: eight of them are below 16 MiB, nine above.
  constexpr int kArguments = 30;
  auto wide = CompileWide(kArguments);
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  std::vector<std::vector<BufferPtr>> results;
  for (int i = 0; i < 8; ++i) {
    ASSERT_OK_AND_ASSIGN(results.emplace_back(),
                         Run(*wide, kArguments, Soon()));
  }
  EXPECT_THAT(Run(*wide, kArguments, Attempt(absl::Milliseconds(60))),
              StatusIs(absl::StatusCode::kResourceExhausted, "or 16 MiB"));
  EXPECT_THAT(Run(*wide, kArguments, Within(absl::Milliseconds(60))),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "fake:1"));
  // What still fits goes.
  EXPECT_OK(Step(*plus_one, Filled(2, 1), Attempt(absl::Milliseconds(60))));
  server.HoldExecutes(false);
  EXPECT_OK(Run(*wide, kArguments, Soon()));
  EXPECT_THAT(*FetchOf(results[7][kArguments - 1]),
              LiteralEquals(Filled(kInlineFloats, 2)));
}

TEST_F(WindowTest, ARequestLargerThanItGoesAlone) {
  constexpr int kArguments = 260;  // 16.25 MiB
  auto wide = CompileWide(kArguments);
  ASSERT_OK_AND_ASSIGN(const auto results, Run(*wide, kArguments, Soon()));
  EXPECT_THAT(*FetchOf(results[0]), LiteralEquals(Filled(kInlineFloats, 2)));
}

TEST_F(WindowTest, CancelEndsTheWait) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  FillWindow(*plus_one);
  runtime::CallOptions call;
  call.cancel = CancelToken::WithFlag();
  std::thread canceller([&] { call.cancel.Cancel(); });
  EXPECT_THAT(Step(*plus_one, Filled(2, 1), call),
              StatusIs(absl::StatusCode::kCancelled, "by the caller"));
  canceller.join();
}

TEST_F(WindowTest, ARequestThatWasNotQueuedLeavesNoTrace) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  FillWindow(*plus_one);
  ASSERT_TRUE(server.WaitForExecutes(kWindow));
  const int executes = server.counts().executes;
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(
        Step(*plus_one, Filled(2, 1), Attempt(absl::Milliseconds(5))).ok());
  }
  server.HoldExecutes(false);
  EXPECT_OK(FetchOf(held_.back()));
  EXPECT_EQ(server.counts().executes, executes);
}

TEST_F(WindowTest, ALostSessionEndsTheWait) {
  auto plus_one = CompilePlusOne();
  server.HoldExecutes(true);
  FillWindow(*plus_one);
  absl::StatusOr<BufferPtr> late = absl::UnknownError("not yet");
  std::thread waiting(
      [&] { late = Step(*plus_one, Filled(2, 1), Soon()); });
  server.Restart();
  server.CutStreams();
  waiting.join();
  server.HoldExecutes(false);
  for (const BufferPtr& y : held_) {
    EXPECT_THAT(FetchOf(y), StatusIs(absl::StatusCode::kUnavailable, ""));
  }
  // It was queued in the lost session, or came in time for the next one.
  ASSERT_OK(late);
  const auto value = FetchOf(*late);
  if (value.ok()) {
    EXPECT_THAT(*value, LiteralEquals(Filled(2, 2)));
  } else {
    EXPECT_THAT(value, StatusIs(absl::StatusCode::kUnavailable, ""));
  }
}

}  // namespace
}  // namespace hawser
