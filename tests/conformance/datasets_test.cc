// Datasets: put once, found by token, used as arguments, on every target.
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/runtime/dataset.h"
#include "tests/conformance/programs.h"
#include "tests/conformance/target.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;
using runtime::BufferPtr;

class DatasetsTest : public TargetTest {
 protected:
  // An empty array, a scalar, one chunk, and two and a bit.
  const DatasetSource source_ = {
      {{"empty", RandomBits(Shape::Of(DType::kF32, {0, 3}), 1)},
       {"scalar", RandomBits(Shape::Scalar(DType::kC64), 2)},
       {"small", RandomBits(Shape::Of(DType::kS64, {5, 7}), 3)},
       {"large", RandomBits(Shape::Of(DType::kU8, {2 * kChunkBytes + 9}), 4)}}};
};

TEST_P(DatasetsTest, PutFindAndFetch) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().PutDataset(source_, Patient()));
  DatasetSource sorted = source_;
  ASSERT_OK(NormalizeSource(&sorted));
  EXPECT_EQ(put.token, TokenOf(ManifestOf(sorted, 1)));
  const auto other = target_->another();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo found,
                       other->StatDataset(put.token, Patient()));
  EXPECT_EQ(found.token, put.token);
  EXPECT_EQ(found.bytes, put.bytes);
  EXPECT_EQ(found.arrays.size(), 4u);
  for (const DatasetSource::Array& array : source_.arrays) {
    ASSERT_NE(found.Find(array.name), nullptr) << array.name;
    EXPECT_EQ(found.Find(array.name)->shape, array.value.shape());
    ASSERT_OK_AND_ASSIGN(
        const BufferPtr there,
        other->DatasetArray(put.token, array.name, Patient()));
    ASSERT_OK_AND_ASSIGN(const Literal back, Get(there));
    EXPECT_TRUE(back.BitEquals(array.value)) << array.name;
  }
}

TEST_P(DatasetsTest, ArraysAreArguments) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().PutDataset(source_, Patient()));
  ASSERT_OK_AND_ASSIGN(const BufferPtr small,
                       client().DatasetArray(put.token, "small", Patient()));
  const Shape shape = Shape::Of(DType::kS64, {5, 7});
  const auto negate = Compile(client(), NegateModule(shape));
  ASSERT_OK_AND_ASSIGN(const Literal once, Get(Execute(negate, {small})[1]));
  // Donated or not, the dataset stays what it is.
  const BufferPtr negated = Execute(negate, {small}, {.donated = {0}})[1];
  EXPECT_THAT(*Get(negated), LiteralBitEquals(once));
  ASSERT_OK_AND_ASSIGN(const BufferPtr again,
                       client().DatasetArray(put.token, "small", Patient()));
  ASSERT_OK_AND_ASSIGN(const Literal twice,
                       Get(Execute(negate, {Execute(negate, {again})[1]})[1]));
  EXPECT_THAT(twice, LiteralBitEquals(*Get(again)));
}

TEST_P(DatasetsTest, TheSameBytesAreSentOnceAndHaveOneName) {
  const Literal value = source_.arrays[3].value;
  ASSERT_OK_AND_ASSIGN(const DatasetInfo first,
                       client().PutDataset({{{"", value}}}, Patient()));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo second,
      target_->another()->PutDataset({{{"", value}}}, Patient()));
  EXPECT_EQ(second.token, first.token);
  EXPECT_EQ(second.sent_bytes, 0);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo named,
                       client().PutDataset({{{"x", value}}}, Patient()));
  EXPECT_NE(named.token, first.token);
  EXPECT_EQ(named.sent_bytes, 0);
}

TEST_P(DatasetsTest, WhatIsNotThereIsNotFound) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo put,
                       client().PutDataset(source_, Patient()));
  EXPECT_THAT(client().DatasetArray(put.token, "medium", Patient()),
              StatusIs(StatusCode::kNotFound, "medium"));
  EXPECT_THAT(client().DatasetArray(put.token, "", Patient()),
              StatusIs(StatusCode::kNotFound, put.token));
  EXPECT_THAT(client().StatDataset("hw1-short", Patient()),
              StatusIs(StatusCode::kInvalidArgument, "hw1-short"));
  EXPECT_THAT(client().DatasetArray("", "x", Patient()),
              StatusIs(StatusCode::kInvalidArgument, ""));
}

TEST_P(DatasetsTest, AnUnknownTokenIsNotFoundOrAway) {
  const std::string unknown = TokenOf(Digest());
  // Without its server a fallback cannot know what that had.
  const bool away = target_->server != nullptr && !target_->server->alive();
  const auto array = client().DatasetArray(unknown, "x", Patient());
  EXPECT_THAT(array,
              StatusIs(away ? StatusCode::kUnavailable : StatusCode::kNotFound,
                       unknown));
  const auto info = client().StatDataset(unknown, Patient());
  EXPECT_THAT(info, StatusIs(StatusCode::kNotFound, unknown));
}

TEST_P(DatasetsTest, BadNamesAreRefused) {
  const Literal x = Full(1, 2);
  const std::vector<DatasetSource> sources = {
      {},
      {{{"x", x}, {"x", x}}},
      {{{"", x}, {"x", x}}},
      {{{"line\nbreak", x}}},
      {{{std::string(256, 'n'), x}}},
      {{{"none", Literal()}}},
  };
  for (size_t i = 0; i < sources.size(); ++i) {
    EXPECT_THAT(client().PutDataset(sources[i], Patient()),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, DatasetsTest, ::testing::ValuesIn(AllTargets()),
                         TargetName);

}  // namespace
}  // namespace hawser
