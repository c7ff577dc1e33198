// The primary comes back: with nothing of what it had.
#include <string>

#include "core/runtime/datasets.h"
#include "tests/client/fallback/fallback_fixture.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;
using ::testing::HasSubstr;
using ReturnTest = FallbackTest;

TEST_F(ReturnTest, WorkGoesBackToThePrimary) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr one = Step(step, w_);
  server_->GoAway();
  const BufferPtr two = Step(step, one);
  EXPECT_THAT(*Fetch(two), LiteralBitEquals(Expected(2)));
  server_->ComeBack();
  AwaitReturn();
  const BufferPtr three = Step(step, two);
  EXPECT_THAT(*Fetch(three), LiteralBitEquals(Expected(3)));
  EXPECT_EQ(three->ran_on(), "server");
  EXPECT_EQ(client_->stats().switches, 1);
  EXPECT_EQ(announced_, 1);
}

// Also values that were never fetched before the server was lost.
TEST_F(ReturnTest, ValuesOfAnOldEpochAreMadeAgainOnce) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr uploaded = *client_->Upload(w_, {});
  const BufferPtr one = Step(step, uploaded);
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  server_->ComeBack();
  AwaitReturn();
  const int before = server_->counts().uploads;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(*Fetch(Step(step, one)), LiteralBitEquals(Expected(2)));
    EXPECT_THAT(*Fetch(Step(step, uploaded)), LiteralBitEquals(Expected(1)));
  }
  EXPECT_EQ(server_->counts().uploads, before + 2);
  EXPECT_EQ(client_->stats().secondary_runs, 1);  // to make `one` again
  EXPECT_EQ(one->ran_on(), "cpu (fallback: unreachable)");
}

TEST_F(ReturnTest, WhereAValueWasSeenItStays) {
  StartWithProbes();
  const BufferPtr one = Step(Compile(), w_);
  ASSERT_OK(Fetch(one));
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  server_->ComeBack();
  AwaitReturn();
  EXPECT_OK(Fetch(one));
  EXPECT_EQ(one->ran_on(), "server");
}

TEST_F(ReturnTest, ALostValueIsDataLossForThePrimaryToo) {
  FallbackPolicy policy = ProbingOften();
  policy.max_recipe_steps = 1;
  policy.checkpoint_bytes = 0;
  Start(policy);
  const auto step = Compile();
  const BufferPtr two = Step(step, Step(step, w_));
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  server_->ComeBack();
  AwaitReturn();
  EXPECT_THAT(step->Execute({two, a_, b_}, {}),
              StatusIs(StatusCode::kDataLoss,
                       "result 0 of step, f32[4], is lost with its server"));
  EXPECT_EQ(client_->stats().switches, 1);
}

TEST_F(ReturnTest, ItComesAndGoesManyTimes) {
  StartWithProbes();
  const auto step = Compile();
  BufferPtr w = *client_->Upload(w_, {});
  for (int round = 0; round < 10; ++round) {
    w = Step(step, w);
    server_->GoAway();
    w = Step(step, w);
    EXPECT_OK(client_->Ping({}));
    server_->ComeBack();
    AwaitReturn();
  }
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(Expected(20)));
  EXPECT_EQ(client_->stats().switches, 10);
  EXPECT_EQ(announced_, 10);
}

// Restarted so fast that no probe was ever needed.
TEST_F(ReturnTest, AQuickRestartIsNoticedByWhatItLost) {
  StartWithProbes();
  const auto step = Compile();
  const BufferPtr one = Step(step, w_);
  server_->ComeBack();
  EXPECT_THAT(*Fetch(Step(step, one)), LiteralBitEquals(Expected(2)));
  AwaitReturn();
  const BufferPtr again = Step(step, one);
  EXPECT_THAT(*Fetch(again), LiteralBitEquals(Expected(2)));
  EXPECT_EQ(again->ran_on(), "server");
}

TEST_F(ReturnTest, DatasetsPutFromHereServeBothSidesAndArePutAgain) {
  StartWithProbes();
  const auto step = Compile();
  const DatasetSource source{{{"w", w_}, {"x", a_}}};
  const auto info = client_->datasets().Put(source, {});
  ASSERT_OK(info);
  EXPECT_EQ(info->sent_bytes, 32);
  const BufferPtr w = *client_->datasets().Open({info->token, "w"}, {});
  EXPECT_EQ(Step(step, w)->ran_on(), "server");
  server_->GoAway();
  EXPECT_THAT(*Fetch(Step(step, w)), LiteralBitEquals(Expected(1)));
  const auto known = client_->datasets().Ask(StatDataset{info->token}, {});
  ASSERT_OK(known);
  EXPECT_EQ(known->bytes, 32);
  EXPECT_NE(known->Find("x"), nullptr);
  server_->ComeBack();
  AwaitReturn();
  EXPECT_EQ(server_->counts().sent_bytes, 64);  // by the probe
  const BufferPtr back = Step(step, w);
  EXPECT_THAT(*Fetch(back), LiteralBitEquals(Expected(1)));
  EXPECT_EQ(back->ran_on(), "server");
  EXPECT_EQ(server_->counts().uploads, 0);  // by name, not by value
}

// A file that was not read for a server which had it is read for this end.
TEST_F(ReturnTest, ALazyDatasetIsMadeForTheEndThatLacksIt) {
  StartWithProbes();
  int made = 0;
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       server_->datasets().Put({{{"w", w_}}}, {}));
  DatasetSource lazy{{{.name = "w",
                       .chunks = {Sha256(w_.bytes())},
                       .lazy = LazyValue{w_.shape(), [&] {
                                           ++made;
                                           return w_;
                                         }}}}};
  ASSERT_OK(client_->datasets().Put(lazy, {}));
  EXPECT_EQ(made, 0);
  const BufferPtr w = *client_->datasets().Open({info.token, "w"}, {});
  server_->GoAway();
  EXPECT_THAT(*Fetch(w), LiteralBitEquals(w_));
  EXPECT_EQ(made, 1);
}

TEST_F(ReturnTest, ADatasetLostInAQuickRestartIsPutWhenItIsMissed) {
  StartWithProbes();
  const auto info = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(info);
  server_->ComeBack();
  const auto array = client_->datasets().Open({info->token, ""}, {});
  ASSERT_OK(array);
  EXPECT_THAT(*Fetch(*array), LiteralBitEquals(w_));
  EXPECT_EQ(server_->counts().puts, 2);
  EXPECT_THAT(client_->datasets().Open({info->token, "nose"}, {}),
              StatusIs(StatusCode::kNotFound, "nose"));
}

TEST_F(ReturnTest, AFetchIntoMemoryComesFromWhereverTheArrayIs) {
  StartWithProbes();
  const auto info = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(info);
  const auto expect_there = [&] {
    std::string room(w_.bytes().size(), '?');
    EXPECT_OK(client_->datasets().FetchInto({info->token, "", std::nullopt},
                                            absl::MakeSpan(room), Patient()));
    EXPECT_TRUE(absl::MakeConstSpan(room) == w_.bytes());
  };
  expect_there();
  server_->ComeBack();  // without it
  expect_there();
  EXPECT_EQ(server_->counts().puts, 2);
  server_->GoAway();
  expect_there();
  std::string room(3, '?');
  EXPECT_THAT(client_->datasets().FetchInto({info->token, "", std::nullopt},
                                            absl::MakeSpan(room), Patient()),
              StatusIs(StatusCode::kInvalidArgument, "there is room for 3"));
}

TEST_F(ReturnTest, ADatasetOfOthersIsUnavailableWhileTheServerIs) {
  FallbackPolicy policy = ProbingOften();
  policy.wait_for_primary = absl::ZeroDuration();
  Start(policy);
  const auto put = server_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(put);
  const BufferPtr array = *client_->datasets().Open({put->token, ""}, {});
  server_->GoAway();
  EXPECT_THAT(array->Fetch({}).Await(),
              StatusIs(StatusCode::kUnavailable,
                       "this end does not have " + put->token));
  EXPECT_THAT(client_->datasets().Open({put->token, ""}, {}),
              StatusIs(StatusCode::kUnavailable, put->token));
}

TEST_F(ReturnTest, SourcesAreNotKeptWhenToldSo) {
  FallbackPolicy policy = NoProbes();
  policy.keep_dataset_sources = false;
  Start(policy);
  const auto info = client_->datasets().Put({{{"", w_}}}, {});
  ASSERT_OK(info);
  server_->GoAway();
  EXPECT_THAT(client_->datasets().Open({info->token, ""}, {}),
              StatusIs(StatusCode::kUnavailable, "does not have"));
}

// It may have less room than before; that is no reason to do without it.
TEST_F(ReturnTest, AServerThatRefusesADatasetIsBackForTheRest) {
  StartWithProbes();
  ASSERT_OK(client_->datasets().Put({{{"", w_}}}, {}));
  server_->GoAway();
  EXPECT_OK(client_->Ping({}));
  server_->RefuseDatasets(ResourceExhausted("disk full"));
  server_->ComeBack();
  AwaitReturn();
  EXPECT_EQ(Step(Compile(), w_)->ran_on(), "server");
}

}  // namespace
}  // namespace hawser
