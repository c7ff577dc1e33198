// Lists, deletions, rows and frozen values, over a server that can vanish.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/runtime/datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/remote/remote_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class DatasetVerbsTest : public RemoteTest {
 protected:
  std::string Put(const Literal& value) {
    const auto info = client->datasets().Put({{{"", value}}}, Soon());
    EXPECT_OK(info);
    return info.ok() ? info->token : "";
  }
  // x + 1 on the server, not fetched.
  BufferPtr PlusOneOf(const Literal& x) {
    const auto step = CompilePlusOne(x.shape().dim(0));
    auto result = Step(*step, x);
    EXPECT_OK(result);
    return *result;
  }
};

TEST_F(DatasetVerbsTest, ListAsksForOnePageAtATime) {
  std::vector<std::string> tokens = {Put(Filled(2, 1)), Put(Filled(2, 2)),
                                     Put(Filled(2, 3))};
  std::sort(tokens.begin(), tokens.end());
  ASSERT_OK_AND_ASSIGN(const DatasetPage first,
                       client->datasets().Ask(DatasetQuery{}, Soon()));
  ASSERT_EQ(first.datasets.size(), 2u);  // the fake's page
  EXPECT_TRUE(first.more);
  ASSERT_OK_AND_ASSIGN(
      const DatasetPage last,
      client->datasets().Ask(DatasetQuery{.after = first.datasets[1].token},
                             Soon()));
  ASSERT_EQ(last.datasets.size(), 1u);
  EXPECT_EQ(last.datasets[0].token, tokens[2]);
  EXPECT_FALSE(last.more);
  ASSERT_OK_AND_ASSIGN(
      const DatasetPage one,
      client->datasets().Ask(DatasetQuery{.prefix = tokens[1], .limit = -3},
                             Soon()));
  EXPECT_EQ(one.datasets.size(), 1u);
}

TEST_F(DatasetVerbsTest, ADeletedTokenIsAskedForAgain) {
  const std::string token = Put(Filled(2, 1));
  ASSERT_OK(client->datasets().Open({token, ""}, Soon()));
  ASSERT_OK(client->datasets().Ask(DeleteDataset{token}, Soon()));
  EXPECT_THAT(client->datasets().Open({token, ""}, Soon()),
              StatusIs(StatusCode::kNotFound, token));
  EXPECT_THAT(client->datasets().Ask(DeleteDataset{token}, Soon()),
              StatusIs(StatusCode::kNotFound, token));
  EXPECT_THAT(client->datasets().Ask(DeleteDataset{"hw1-short"}, Soon()),
              StatusIs(StatusCode::kInvalidArgument, "hw1-short"));
}

// Not kUnavailable, by which a fallback client would take the server for gone.
TEST_F(DatasetVerbsTest, AnArrayThatIsDeletedMeanwhileIsNotFound) {
  const std::string token = Put(Filled(2, 1));
  ASSERT_OK_AND_ASSIGN(const BufferPtr array,
                       client->datasets().Open({token, ""}, Soon()));
  ASSERT_OK(client->datasets().Ask(DeleteDataset{token}, Soon()));
  EXPECT_THAT(FetchOf(array), StatusIs(StatusCode::kNotFound, token));
}

TEST_F(DatasetVerbsTest, RowsTravelAsNames) {
  const std::string token = Put(Literal::Vector<float>({1, 2, 3, 4, 5}));
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr rows,
      client->datasets().Open({token, "", RowRange{1, 2}}, Soon()));
  const auto step = CompilePlusOne(2);
  ASSERT_OK_AND_ASSIGN(const BufferPtr result, Step(*step, rows));
  EXPECT_THAT(*FetchOf(result), LiteralEquals(Literal::Vector<float>({3, 4})));
  EXPECT_THAT(*FetchOf(rows), LiteralEquals(Literal::Vector<float>({2, 3})));
  ASSERT_OK_AND_ASSIGN(const auto called, step->Call({rows}, Soon()).Await());
  EXPECT_THAT(called.values[0], LiteralEquals(Literal::Vector<float>({3, 4})));
  ASSERT_OK_AND_ASSIGN(
      const BufferPtr none,
      client->datasets().Open({token, "", RowRange{5, 0}}, Soon()));
  EXPECT_EQ(FetchOf(none)->shape(), Shape::Of(DType::kF32, {0}));
  EXPECT_THAT(client->datasets().Open({token, "", RowRange{4, 2}}, Soon()),
              StatusIs(StatusCode::kInvalidArgument,
                       "rows 4 and up, 2 of them, of f32[5]"));
  // Names outlive a session.
  server.Restart();
  ASSERT_OK(client->Ping(Soon()).ok() ? absl::OkStatus()
                                      : client->Ping(Soon()));
  EXPECT_THAT(*FetchOf(rows), LiteralEquals(Literal::Vector<float>({2, 3})));
}

TEST_F(DatasetVerbsTest, FreezeIsOneRequestAndBringsNothingOver) {
  const BufferPtr result = PlusOneOf(Filled(2, 1));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client->datasets().Freeze({{"b", result}, {"a", Filled(3, 7)}}, Soon()));
  EXPECT_EQ(info.token, TokenOf(ManifestOf(
                            {{{"a", Filled(3, 7)}, {"b", Filled(2, 2)}}}, 1)));
  EXPECT_TRUE(info.durable);
  EXPECT_EQ(server.counts().freezes, 1);
  EXPECT_EQ(server.counts().fetches + server.counts().downloads, 0);
  EXPECT_EQ(server.counts().put_bytes, 0);
  EXPECT_OK(client->datasets().Open({info.token, "b"}, Soon()));
}

TEST_F(DatasetVerbsTest, FreezeSurvivesABrokenStream) {
  const BufferPtr result = PlusOneOf(Filled(2, 1));
  ASSERT_OK(FetchOf(result));
  server.SwallowReplies(1);
  absl::StatusOr<DatasetInfo> info = absl::UnknownError("not asked");
  std::thread asking([&] {
    info = client->datasets().Freeze({{"", result}}, Soon());
  });
  // The answer is lost with the stream, and comes again on the next one.
  const absl::Time patience = absl::Now() + absl::Seconds(10);
  while (server.counts().freezes == 0 && absl::Now() < patience) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  server.CutStreams();
  asking.join();
  ASSERT_OK(info);
  EXPECT_EQ(info->token, TokenOf(ManifestOf({{{"", Filled(2, 2)}}}, 1)));
  EXPECT_EQ(server.counts().freezes, 1);
}

TEST_F(DatasetVerbsTest, FreezeFailsWithTheFirstCause) {
  const BufferPtr poisoned = PlusOneOf(Filled(2, -1));
  EXPECT_THAT(client->datasets().Freeze({{"", poisoned}}, Soon()),
              StatusIs(StatusCode::kInvalidArgument, "below zero"));
  const BufferPtr lost = PlusOneOf(Filled(2, 1));
  ASSERT_OK(FetchOf(lost));
  server.Restart();
  (void)client->Ping(Soon());
  EXPECT_THAT(client->datasets().Freeze({{"w", lost}}, Soon()),
              StatusIs(StatusCode::kUnavailable, ""));
  server.Freeze(true);
  EXPECT_THAT(client->datasets().Freeze({{"w", Filled(2, 1)}},
                                        Within(absl::Milliseconds(100))),
              StatusIs(StatusCode::kDeadlineExceeded, ""));
  server.Freeze(false);
}

TEST_F(DatasetVerbsTest, NobodyThereIsUnavailable) {
  const std::string token = Put(Filled(2, 1));
  server.Refuse(true);
  EXPECT_THAT(client->datasets().Ask(DatasetQuery{}, Soon()),
              StatusIs(StatusCode::kUnavailable, "nobody listens"));
  EXPECT_THAT(client->datasets().Ask(DeleteDataset{token}, Soon()),
              StatusIs(StatusCode::kUnavailable, "nobody listens"));
  EXPECT_THAT(client->datasets().Freeze({{"w", Filled(2, 1)}}, Soon()),
              StatusIs(StatusCode::kUnavailable, ""));
}

// What a put that was cut short has brought over is not sent again.
TEST_F(DatasetVerbsTest, ACancelledPutGoesOnWhereItStopped) {
  Literal value = Literal::Zeros(Shape::Of(DType::kU8, {20 * kChunkBytes}));
  for (int64_t i = 0; i < value.shape().dim(0); i += kChunkBytes) {
    value.mutable_bytes()[static_cast<size_t>(i)] =
        static_cast<char>(i / kChunkBytes + 1);
  }
  runtime::CallOptions call = Soon();
  call.cancel = CancelToken::WithFlag();
  call.progress = [&](int64_t done, int64_t) {
    if (done >= 6 * kChunkBytes) call.cancel.Cancel();
  };
  EXPECT_THAT(client->datasets().Put({{{"", value}}}, call),
              StatusIs(StatusCode::kCancelled, ""));
  const int64_t before = server.counts().put_bytes;
  EXPECT_GE(before, 6 * kChunkBytes);
  EXPECT_LT(before, 20 * kChunkBytes);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       client->datasets().Put({{{"", value}}}, Soon()));
  EXPECT_EQ(info.sent_bytes, 20 * kChunkBytes - before);
  EXPECT_EQ(server.counts().put_bytes, 20 * kChunkBytes);
}

}  // namespace
}  // namespace hawser
