// Datasets in the SDK: rows as arguments, frozen tensors, lists, deletions.
#include "client/sdk/client/dataset.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/sdk/functions/function.h"
#include "client/sdk/ops.h"
#include "gtest/gtest.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

class SdkDatasetTest : public ::testing::Test {
 protected:
  static Tensor Nine() { return Constant(Literal::Vector<float>({9})); }

  const std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  const Client client_{counting_};
  const Literal x_ = Literal::Of<float>({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
};

TEST_F(SdkDatasetTest, RowsAreArgumentsThatTraceOnce) {
  const auto d = client_.Put({{"x", x_}, {"s", Literal::Scalar(1.0f)}});
  ASSERT_OK(d);
  int traces = 0;
  const auto twice = Jit([&](Tensor rows) {
    ++traces;
    return rows + rows;
  });
  for (int64_t begin : {0, 1, 2}) {
    const Tensor rows = d->Rows("x", begin, 2);
    EXPECT_EQ(rows.shape(), Shape::Of(DType::kF32, {2, 2}));
    const auto result = twice(rows);
    ASSERT_OK(result);
    const float first = static_cast<float>(4 * begin + 2);
    EXPECT_THAT(*result->Fetch(),
                LiteralEquals(Literal::Of<float>(
                    {first, first + 2, first + 4, first + 6}, {2, 2})));
  }
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(d->Rows("x", 4, 0).shape(), Shape::Of(DType::kF32, {0, 2}));
  const auto alone = client_.Put({{"", x_}});
  EXPECT_THAT(*alone->Rows(3, 1).Fetch(),
              LiteralEquals(Literal::Of<float>({7, 8}, {1, 2})));
}

TEST_F(SdkDatasetTest, RowsThatAreNotThereAreAStickyError) {
  const auto d = client_.Put({{"x", x_}, {"s", Literal::Scalar(1.0f)}});
  ASSERT_OK(d);
  EXPECT_THAT((d->Rows("x", 3, 2) + 1.0f).Fetch(),
              StatusIs(StatusCode::kInvalidArgument,
                       "rows 3 and up, 2 of them, of f32[4,2]"));
  EXPECT_THAT(d->Rows("x", 3, 2).status(),
              StatusIs(StatusCode::kInvalidArgument, d->token()));
  EXPECT_THAT(d->Rows("s", 0, 1).status(),
              StatusIs(StatusCode::kInvalidArgument, "a scalar has no rows"));
  EXPECT_THAT(d->Rows("y", 0, 1).status(),
              StatusIs(StatusCode::kNotFound, "no array \"y\""));
  EXPECT_THAT(Dataset().Rows(0, 1).status(),
              StatusIs(StatusCode::kNotFound, "(none)"));
}

TEST_F(SdkDatasetTest, ArraysAreFetchedIntoMemoryOfTheUsers) {
  const auto d = client_.Put({{"x", x_}, {"s", Literal::Scalar(1.0f)}});
  ASSERT_OK(d);
  std::vector<float> all(8), two(4);
  EXPECT_OK(d->FetchInto("x", absl::MakeSpan(all)));
  EXPECT_EQ(all, std::vector<float>({1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_OK(d->FetchInto("x", RowRange{1, 2}, absl::MakeSpan(two)));
  EXPECT_EQ(two, std::vector<float>({3, 4, 5, 6}));
  float scalar = 0;
  EXPECT_OK(d->FetchInto("s", absl::MakeSpan(&scalar, 1)));
  EXPECT_EQ(scalar, 1);
  std::string bytes(32, '\0');  // of whatever dtype
  EXPECT_OK(d->FetchInto("x", absl::MakeSpan(&bytes[0], bytes.size())));
  EXPECT_TRUE(absl::MakeConstSpan(bytes) == x_.bytes());
}

TEST_F(SdkDatasetTest, WhatDoesNotFitTheUsersMemoryIsNamed) {
  const auto d = client_.Put({{"x", x_}});
  ASSERT_OK(d);
  std::vector<float> seven(7);
  std::vector<int32_t> whole(8);
  EXPECT_THAT(d->FetchInto("x", absl::MakeSpan(seven)),
              StatusIs(StatusCode::kInvalidArgument,
                       "f32[4,2] takes 32 bytes, there is room for 28"));
  EXPECT_THAT(d->FetchInto("x", absl::MakeSpan(whole)),
              StatusIs(StatusCode::kInvalidArgument,
                       "array \"x\" is f32[4,2], the memory is for s32"));
  EXPECT_THAT(d->FetchInto("y", absl::MakeSpan(seven)),
              StatusIs(StatusCode::kNotFound, "no array \"y\""));
  EXPECT_THAT(Dataset().FetchInto("", absl::MakeSpan(seven)),
              StatusIs(StatusCode::kNotFound, "(none)"));
  EXPECT_THAT(
      d->FetchInto("x", absl::MakeSpan(seven),
                   {.deadline = absl::ZeroDuration()}),
      StatusIs(StatusCode::kDeadlineExceeded, "deadline of 0 passed: "));
}

TEST_F(SdkDatasetTest, FreezeRunsWhatWasRecordedOnce) {
  const auto put = client_.Put({{"x", x_}});
  ASSERT_OK(put);
  const Tensor doubled = (*put)["x"] * 2.0f, more = doubled + 1.0f;
  const auto frozen =
      client_.Freeze({{"doubled", doubled}, {"more", more}, {"host", Nine()}});
  ASSERT_OK(frozen);
  EXPECT_EQ(counting_->executions, 1);
  const Literal twice =
      Literal::Of<float>({2, 4, 6, 8, 10, 12, 14, 16}, {4, 2});
  EXPECT_THAT(*(*frozen)["doubled"].Fetch(), LiteralEquals(twice));
  EXPECT_EQ(frozen->info().arrays.size(), 3u);
  // The token that Put gives to the same bytes.
  const auto same = client_.Put(
      {{"doubled", twice}, {"more", *more.Fetch()}, {"host", *Nine().Fetch()}});
  EXPECT_EQ(frozen->token(), same->token());
  EXPECT_EQ(counting_->executions, 1) << "frozen tensors keep their value";
}

TEST_F(SdkDatasetTest, WhatCannotBeFrozenNamesTheArray) {
  const auto other = std::make_shared<CountingClient>("other");
  const auto there = Client(other).Put({{"", x_}});
  ASSERT_OK(there);
  EXPECT_THAT(client_.Freeze({{"x", (*there)()}}),
              StatusIs(StatusCode::kFailedPrecondition, "other"));
  EXPECT_THAT(client_.Freeze({{"w", Tensor()}}),
              StatusIs(StatusCode::kFailedPrecondition, "array \"w\""));
  EXPECT_THAT(client_.Freeze({}),
              StatusIs(StatusCode::kInvalidArgument, "no array"));
  EXPECT_THAT(Client().Freeze({{"w", Nine()}}),
              StatusIs(StatusCode::kFailedPrecondition, "no client"));
}

TEST_F(SdkDatasetTest, ListAndDelete) {
  EXPECT_TRUE(client_.List()->empty());
  std::vector<std::string> tokens;
  for (float value : {1.0f, 2.0f, 3.0f}) {
    tokens.push_back(client_.Put({{"", Literal::Scalar(value)}})->token());
  }
  std::sort(tokens.begin(), tokens.end());
  const auto all = client_.List();
  ASSERT_OK(all);
  ASSERT_EQ(all->size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ((*all)[i].token, tokens[i]);
  EXPECT_EQ(client_.List(tokens[1])->size(), 1u);
  const auto kept = client_.Dataset(tokens[1]);
  const Tensor value = (*kept)();
  EXPECT_OK(client_.Delete(tokens[1]));
  EXPECT_THAT(client_.Delete(tokens[1]),
              StatusIs(StatusCode::kNotFound, tokens[1]));
  EXPECT_THAT(client_.Dataset(tokens[1]),
              StatusIs(StatusCode::kNotFound, tokens[1]));
  EXPECT_OK((value + 1.0f).Fetch()) << "what is in use stays";
  EXPECT_THAT(Client().List(),
              StatusIs(StatusCode::kFailedPrecondition, "no client"));
  EXPECT_THAT(Client().Delete(tokens[0]),
              StatusIs(StatusCode::kFailedPrecondition, "no client"));
}

TEST_F(SdkDatasetTest, PinsAndTags) {
  const auto first = client_.Put({{"", Literal::Scalar(1.0f)}});
  const auto second = client_.Put({{"", Literal::Scalar(2.0f)}});
  ASSERT_OK(first);
  ASSERT_OK(second);
  ASSERT_OK(client_.Tag({.name = "@x", .token = first->token()}));
  EXPECT_EQ(client_.Dataset("@x")->token(), first->token());
  EXPECT_THAT(client_.Dataset("x"),
              StatusIs(StatusCode::kInvalidArgument,
                       "not a dataset token (hw1-...); a tag begins with"));
  EXPECT_THAT(client_.Tag({"@x", second->token(), second->token()}),
              StatusIs(StatusCode::kAborted, first->token()));
  ASSERT_OK(client_.Tag({"@x", second->token(), first->token()}));

  EXPECT_EQ(client_.Pin("@x")->pinned_until, absl::InfiniteFuture());
  EXPECT_EQ(client_.Usage()->datasets, 2);
  EXPECT_EQ(client_.Usage()->pinned_bytes, 4);
  EXPECT_EQ(client_.Unpin(second->token())->pinned_until, absl::InfinitePast());
  EXPECT_EQ(client_.Usage()->pinned_bytes, 0);

  EXPECT_OK(client_.Delete("@x"));
  EXPECT_THAT(client_.Dataset(second->token()),
              StatusIs(StatusCode::kNotFound, second->token()));
  EXPECT_THAT(client_.Delete("@y"), StatusIs(StatusCode::kNotFound, "@y"));
  EXPECT_THAT(client_.Pin("@y"), StatusIs(StatusCode::kNotFound, "@y"));
  EXPECT_THAT(Client().Usage(),
              StatusIs(StatusCode::kFailedPrecondition, "no client"));
}

}  // namespace
}  // namespace hawser
