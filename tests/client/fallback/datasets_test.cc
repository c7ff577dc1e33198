// Datasets of a FallbackClient: rows, lists, deletions, and values that became
// a dataset on a server that is then lost.
#include "core/runtime/datasets.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/client/fallback/fallback_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;

class FallbackDatasetsTest : public FallbackTest {
 protected:
  // One step of w_ on the server, frozen as "w".
  absl::StatusOr<DatasetInfo> FreezeStep() {
    const auto step = Compile();
    return client_->datasets().Freeze({{"w", Step(step, w_)}}, Patient());
  }
  std::vector<std::string> Tokens() {
    std::vector<std::string> tokens;
    const auto page = client_->datasets().Ask(DatasetQuery{}, Patient());
    EXPECT_OK(page);
    for (const DatasetInfo& info : page->datasets) tokens.push_back(info.token);
    return tokens;
  }
};

TEST_F(FallbackDatasetsTest, RowsAreTakenOnBothSides) {
  Start();
  const auto info = client_->datasets().Put(
      {{{"", Literal::Vector<float>({9, 9, 1, 2, 3, -4})}}}, {});
  ASSERT_OK(info);
  const auto rows =
      client_->datasets().Open({info->token, "", RowRange{2, 4}}, {});
  ASSERT_OK(rows);
  const auto step = Compile();
  const BufferPtr before = Step(step, *rows);
  EXPECT_EQ(before->ran_on(), "server");
  server_->GoAway();
  EXPECT_THAT(*Fetch(before), LiteralBitEquals(Expected(1)));
  EXPECT_THAT(*Fetch(Step(step, *rows)), LiteralBitEquals(Expected(1)));
  EXPECT_THAT(*Fetch(*rows), LiteralBitEquals(w_));
  EXPECT_THAT(client_->datasets().Open({info->token, "", RowRange{3, 4}}, {}),
              StatusIs(StatusCode::kInvalidArgument, info->token));
}

TEST_F(FallbackDatasetsTest, WhatTheServerRefusesIsNotPutElsewhere) {
  Start();
  server_->RefuseDatasets(absl::InvalidArgumentError("odd"));
  EXPECT_THAT(client_->datasets().Put({{{"", w_}}}, {}),
              StatusIs(StatusCode::kInvalidArgument, "odd"));
  EXPECT_EQ(announced_, 0);
}

TEST_F(FallbackDatasetsTest, WhileTheServerIsAwayWhatIsHereIsListed) {
  Start();
  const auto put = client_->datasets().Put({{{"", w_}}}, {});
  const auto others = server_->datasets().Put({{{"", b_}}}, {});
  EXPECT_EQ(Tokens().size(), 2u);
  server_->GoAway();
  EXPECT_EQ(Tokens(), std::vector<std::string>{put->token});
  ASSERT_OK(client_->datasets().Put({{{"", a_}}}, {}));
  EXPECT_EQ(Tokens().size(), 2u);
  // In use here: the secondary has it too by now.
  EXPECT_OK(client_->datasets().Open({put->token, ""}, {}));
  EXPECT_EQ(Tokens().size(), 2u);
  // What others have put there is listed as well.
  ASSERT_OK(cpu_->datasets().Put({{{"", b_}}}, {}));
  EXPECT_EQ(Tokens().size(), 3u);
}

TEST_F(FallbackDatasetsTest, ADeletedDatasetIsNotPutAgain) {
  StartWithProbes();
  const auto info = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(client_->datasets().Ask(DeleteDataset{info->token}, Patient()));
  EXPECT_THAT(client_->datasets().Ask(DeleteDataset{info->token}, Patient()),
              StatusIs(StatusCode::kNotFound, info->token));
  EXPECT_THAT(client_->datasets().Open({info->token, ""}, {}),
              StatusIs(StatusCode::kNotFound, info->token));
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  server_->ComeBack();
  AwaitReturn();
  EXPECT_TRUE(Tokens().empty());
}

TEST_F(FallbackDatasetsTest, WhatAServerHasForgottenIsThereAndPutAgain) {
  Start();
  const auto put = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(put);
  ASSERT_OK(server_->datasets().Ask(DeleteDataset{put->token},
                                    {}));  // as by a restart
  const auto info = client_->datasets().Ask(StatDataset{put->token}, {});
  ASSERT_OK(info);
  EXPECT_EQ(info->arrays.size(), 1u);
  const auto array = client_->datasets().Open({put->token, ""}, {});
  ASSERT_OK(array);
  EXPECT_THAT(*Fetch(*array), LiteralBitEquals(w_));
  EXPECT_OK(server_->datasets().Ask(StatDataset{put->token}, {}));
}

// Else it would be there again after the delete has said that it is gone.
TEST_F(FallbackDatasetsTest, ADeleteWaitsForWhoeverPutsItAgain) {
  Start();
  const auto put = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(put);
  ASSERT_OK(server_->datasets().Ask(DeleteDataset{put->token},
                                    {}));  // as by a restart
  absl::Status deleted = absl::UnknownError("not yet");
  std::thread deleter;
  server_->BeforeNextPut([&] {
    deleter = std::thread([&] {
      deleted = client_->datasets()
                    .Ask(DeleteDataset{put->token}, Patient())
                    .status();
    });
    // Time enough for one that does not wait.
    const absl::Time end = absl::Now() + absl::Milliseconds(200);
    while (server_->counts().deleted.size() < 2 && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  });
  EXPECT_OK(client_->datasets().Open({put->token, ""}, Patient()));
  deleter.join();
  EXPECT_OK(deleted);
  EXPECT_THAT(server_->datasets().Ask(StatDataset{put->token}, {}),
              StatusIs(StatusCode::kNotFound, put->token));
  EXPECT_THAT(client_->datasets().Open({put->token, ""}, Patient()),
              StatusIs(StatusCode::kNotFound, put->token));
  EXPECT_TRUE(Tokens().empty());
}

TEST_F(FallbackDatasetsTest, ADeleteThatMayNotWaitSaysWhatItWaitsFor) {
  Start();
  const auto put = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(put);
  ASSERT_OK(server_->datasets().Ask(DeleteDataset{put->token}, {}));
  absl::Status deleted;
  server_->BeforeNextPut([&] {
    deleted =
        client_->datasets()
            .Ask(DeleteDataset{put->token},
                 {.cancel = CancelToken(absl::Now() + absl::Milliseconds(50))})
            .status();
  });
  EXPECT_OK(client_->datasets().Open({put->token, ""}, Patient()));
  EXPECT_THAT(deleted, StatusIs(StatusCode::kDeadlineExceeded, put->token));
  EXPECT_OK(client_->datasets().Ask(DeleteDataset{put->token}, Patient()));
}

TEST_F(FallbackDatasetsTest, WhatIsDeletedWhileTheServerIsAwayGoesThereToo) {
  StartWithProbes();
  const auto first = client_->datasets().Put({{{"", w_}}}, {});
  server_->GoAway();
  const auto second = client_->datasets().Put({{{"", a_}}}, {});
  ASSERT_OK(second);
  ASSERT_OK(client_->datasets().Ask(DeleteDataset{first->token}, Patient()));
  ASSERT_OK(client_->datasets().Ask(DeleteDataset{second->token}, Patient()));
  EXPECT_THAT(
      client_->datasets().Ask(DeleteDataset{TokenOf(Digest())}, Patient()),
      StatusIs(StatusCode::kUnavailable, "away"));
  EXPECT_TRUE(Tokens().empty());
  EXPECT_TRUE(server_->counts().deleted.empty());
  // A server with a disk has the first one when it is back.
  server_->ComeBack();
  AwaitReturn();
  EXPECT_EQ(server_->counts().deleted.size(), 2u);
  EXPECT_TRUE(Tokens().empty());
}

// The probe puts what there was when it began; it must not close the breaker
// over what it has not seen.
TEST_F(FallbackDatasetsTest, WhatChangesWhileTheServerComesBackIsTheSameThere) {
  StartWithProbes();
  const auto first = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(first);
  absl::StatusOr<DatasetInfo> second = absl::UnknownError("not yet");
  absl::Status deleted = absl::UnknownError("not yet");
  server_->GoAway();
  server_->BeforeNextPut([&] {
    second = client_->datasets().Put({{{"", a_}}}, Patient());
    deleted = client_->datasets()
                  .Ask(DeleteDataset{first->token}, Patient())
                  .status();
  });
  EXPECT_OK(client_->Ping({}));
  server_->ComeBack();
  AwaitReturn();
  ASSERT_OK(second);
  EXPECT_OK(deleted);
  EXPECT_OK(server_->datasets().Ask(StatDataset{second->token}, {}));
  EXPECT_THAT(server_->datasets().Ask(StatDataset{first->token}, {}),
              StatusIs(StatusCode::kNotFound, first->token));
  EXPECT_EQ(Tokens(), std::vector<std::string>{second->token});
}

TEST_F(FallbackDatasetsTest, FrozenValuesAreARecipesRoot) {
  Start();
  const auto info = FreezeStep();
  ASSERT_OK(info);
  EXPECT_EQ(info->token, TokenOf(ManifestOf({{{"w", Expected(1)}}}, 1)));
  const auto array = client_->datasets().Open({info->token, "w"}, {});
  ASSERT_OK(array);
  const auto step = Compile();
  const BufferPtr before = Step(step, *array);
  EXPECT_EQ(before->ran_on(), "server");
  server_->GoAway();
  // Small: its value came over when it was made.
  EXPECT_THAT(*Fetch(before), LiteralBitEquals(Expected(2)));
  EXPECT_THAT(*Fetch(Step(step, *array)), LiteralBitEquals(Expected(2)));
  EXPECT_OK(client_->datasets().Ask(StatDataset{info->token}, {}));
}

TEST_F(FallbackDatasetsTest, ALostFrozenDatasetIsDataLossThatNamesIt) {
  FallbackPolicy policy = NoProbes();
  policy.checkpoint_bytes = 0;
  Start(policy);
  const auto info = FreezeStep();
  ASSERT_OK(info);
  const auto array = client_->datasets().Open({info->token, "w"}, {});
  ASSERT_OK(array);
  const BufferPtr after = Step(Compile(), *array);
  server_->GoAway();
  for (const absl::Status& status :
       {client_->datasets().Open({info->token, "w"}, {}).status(),
        client_->datasets()
            .Open({info->token, "w", RowRange{0, 1}}, {})
            .status(),
        client_->datasets().Ask(StatDataset{info->token}, {}).status(),
        Fetch(*array).status(), Fetch(after).status()}) {
    EXPECT_THAT(status, StatusIs(StatusCode::kDataLoss, info->token));
  }
}

// A server that lost it while it was away unnoticed.
TEST_F(FallbackDatasetsTest, AFrozenDatasetThatIsNotThereAnyMoreIsDataLoss) {
  FallbackPolicy policy = NoProbes();
  policy.keep_dataset_sources = false;
  Start(policy);
  const auto info = FreezeStep();
  ASSERT_OK(info);
  EXPECT_THAT(client_->datasets().Open({info->token, "v"}, {}),
              StatusIs(StatusCode::kNotFound, "\"v\""));
  server_->ComeBack();
  EXPECT_THAT(client_->datasets().Open({info->token, "w"}, {}),
              StatusIs(StatusCode::kDataLoss, info->token));
  EXPECT_THAT(client_->datasets().Ask(StatDataset{info->token}, {}),
              StatusIs(StatusCode::kDataLoss, info->token));
  // A delete is what makes it unknown.
  EXPECT_OK(client_->datasets().Ask(DeleteDataset{info->token}, {}));
  EXPECT_THAT(client_->datasets().Ask(StatDataset{info->token}, {}),
              StatusIs(StatusCode::kNotFound, info->token));
}

TEST_F(FallbackDatasetsTest, TheSecondaryFreezesWhenTheServerIsAway) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr made = Step(step, w_);
  server_->GoAway();
  const auto info =
      client_->datasets().Freeze({{"b", b_}, {"w", made}}, Patient());
  ASSERT_OK(info);
  const std::string token =
      TokenOf(ManifestOf({{{"b", b_}, {"w", Expected(1)}}}, 1));
  EXPECT_EQ(info->token, token);
  EXPECT_THAT(*Fetch(*client_->datasets().Open({token, "w"}, {})),
              LiteralBitEquals(Expected(1)));
  server_->ComeBack();
  AwaitReturn();
  EXPECT_OK(server_->datasets().Ask(StatDataset{token}, {}));
}

TEST_F(FallbackDatasetsTest, OnlyOwnBuffersAreFrozen) {
  Start();
  EXPECT_THAT(client_->datasets().Freeze({{"x", *cpu_->Upload(w_, {})}}, {}),
              StatusIs(StatusCode::kFailedPrecondition, "array \"x\""));
  EXPECT_THAT(client_->datasets().Freeze({{"x", BufferPtr()}}, {}),
              StatusIs(StatusCode::kFailedPrecondition, "array \"x\""));
  EXPECT_THAT(client_->datasets().Freeze({}, {}),
              StatusIs(StatusCode::kInvalidArgument, "no array"));
  server_->PoisonNext(InvalidArgument("below zero"));
  EXPECT_THAT(FreezeStep(), StatusIs(StatusCode::kInvalidArgument, "below"));
}

}  // namespace
}  // namespace hawser
