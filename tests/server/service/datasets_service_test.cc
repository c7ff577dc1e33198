// What a well-behaved client gets from v1.Datasets, over a real connection.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/runtime/datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/service/service_fixture.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

// Larger than a chunk; row r of [rows, 1000] holds r in its first element.
Literal Rows(int64_t rows) {
  Literal value = Literal::Zeros(Shape::Of(DType::kS32, {rows, 1000}));
  for (int64_t r = 0; r < rows; ++r) {
    value.mutable_data<int32_t>()[r * 1000] = static_cast<int32_t>(r);
  }
  return value;
}

class DatasetsServiceTest : public ServiceTest,
                            public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    LoopbackOptions options;
    options.data_dir = GetParam();
    Start(options);
  }
  Called<v1::GetChunk> Get(const std::string& token, int64_t begin = 0,
                           int64_t count = 0, const std::string& array = "") {
    v1::GetRequest request;
    request.set_token(token);
    request.set_array(array);
    request.set_row_begin(begin);
    request.set_row_count(count);
    return CallMethod<v1::GetChunk>(channel_, kGet, std::vector{request});
  }
  Called<v1::DatasetInfoProto> Stat(const std::string& token) {
    v1::StatRequest request;
    request.set_token(token);
    return CallMethod<v1::DatasetInfoProto>(channel_, kStat,
                                            std::vector{request});
  }
};

std::string DataOf(const Called<v1::GetChunk>& called) {
  std::string data;
  for (const v1::GetChunk& chunk : called.answers) data += chunk.data();
  return data;
}

INSTANTIATE_TEST_SUITE_P(Tiers, DatasetsServiceTest, ::testing::Bool(),
                         [](const auto& tier) {
                           return tier.param ? "OnDisk" : "InMemory";
                         });

// What a client needs to check that bytes are those that the token names.
TEST_P(DatasetsServiceTest, DigestsAndWholeChunksAreGivenOut) {
  Literal value =
      Literal::Zeros(Shape::Of(DType::kU8, {2 * kChunkBytes + 9}));
  value.mutable_bytes()[0] = 1;
  value.mutable_bytes()[kChunkBytes] = 2;
  value.mutable_bytes().back() = 3;
  const DatasetSource source{{{"", value}}};
  const std::string token = PutArray(channel_, value);
  v1::StatRequest request;
  request.set_token(token);
  EXPECT_EQ(Stat(token).answer().arrays(0).chunks(), "");
  request.set_digests(true);
  const auto stat = CallMethod<v1::DatasetInfoProto>(channel_, kStat,
                                                     std::vector{request});
  ASSERT_OK(stat.status);
  std::string digests;
  const DatasetManifest manifest = ManifestOf(source, 1);
  for (const Digest& chunk : manifest.arrays[0].chunks) {
    digests.append(chunk.bytes().data(), Digest::kSize);
  }
  EXPECT_EQ(stat.answer().arrays(0).chunks(), digests);
  v1::GetRequest get;
  get.set_token(token);
  get.set_first_chunk(1);
  get.set_chunk_count(2);
  const auto got =
      CallMethod<v1::GetChunk>(channel_, kGet, std::vector{get});
  ASSERT_OK(got.status);
  EXPECT_EQ(*FromProto(got.answers[0].shape()),
            Shape::Of(DType::kU8, {kChunkBytes + 9}));
  EXPECT_EQ(DataOf(got), BytesOf(value).substr(kChunkBytes));
}

TEST_P(DatasetsServiceTest, WhatIsPutComesBackAroundTheSizeOfAChunk) {
  for (const int64_t n :
       {int64_t{0}, int64_t{1}, kChunkBytes, kChunkBytes + 1}) {
    Literal value = Literal::Zeros(Shape::Of(DType::kU8, {n}));
    if (n > 0) value.mutable_bytes().back() = 7;
    const std::string token = PutArray(channel_, value);
    const auto stat = Stat(token);
    ASSERT_OK(stat.status);
    EXPECT_EQ(stat.answer().bytes(), n);
    EXPECT_EQ(stat.answer().durable(), GetParam());
    const auto got = Get(token);
    ASSERT_OK(got.status);
    ASSERT_FALSE(got.answers.empty()) << "an empty array has a shape too";
    EXPECT_THAT(FromProto(got.answers[0].shape()), IsOk());
    EXPECT_EQ(*FromProto(got.answers[0].shape()), value.shape());
    EXPECT_EQ(DataOf(got), BytesOf(value)) << n;
  }
}

TEST_P(DatasetsServiceTest, FindMissingNamesWhatWasNotPut) {
  const Literal there = Rows(1), other = Rows(2);
  PutArray(channel_, there);
  v1::FindMissingRequest request;
  request.set_upload(kPutNumber);
  for (const Literal* value : {&there, &other, &there}) {
    request.mutable_digests()->append(
        std::string(Sha256(value->bytes()).bytes()));
  }
  const auto found = CallMethod<v1::FindMissingReply>(channel_, kFindMissing,
                                                      std::vector{request});
  ASSERT_OK(found.status);
  EXPECT_THAT(found.answer().missing(), ElementsAre(1));
}

TEST_P(DatasetsServiceTest, OneStreamPutsManyChunks) {
  const Literal one = Rows(1), two = Rows(2);
  const std::string d1(Sha256(one.bytes()).bytes());
  const std::string d2(Sha256(two.bytes()).bytes());
  const auto put = CallMethod<v1::PutReply>(
      channel_, kPut,
      std::vector{PutFrame(d1, 4000, BytesOf(one).substr(0, 1)),
                  PutFrame("", 0, BytesOf(one).substr(1)),
                  PutFrame(d2, 8000, ""), PutFrame("", 0, BytesOf(two))});
  ASSERT_OK(put.status);
  EXPECT_EQ(put.answer().chunks(), 2u);
  EXPECT_EQ(put.answer().bytes(), 12000u);
}

TEST_P(DatasetsServiceTest, RowsMayBeReadAlone) {
  constexpr int64_t kRows = 2500;  // 9.5 MiB, three chunks
  const Literal value = Rows(kRows);
  const std::string token = PutArray(channel_, value);
  const struct {
    int64_t begin, count, got;
  } rows[] = {{0, 1, 1},       {kRows - 1, 1, 1}, {1000, 1100, 1100},
              {0, kRows, kRows}, {2400, 0, 100},    {kRows, 0, 0}};
  for (const auto& row : rows) {
    const auto got = Get(token, row.begin, row.count);
    ASSERT_OK(got.status) << row.begin;
    ASSERT_FALSE(got.answers.empty()) << row.begin;
    EXPECT_EQ(*FromProto(got.answers[0].shape()),
              Shape::Of(DType::kS32, {row.got, 1000}));
    EXPECT_EQ(DataOf(got), BytesOf(value).substr(4000 * row.begin,
                                                 4000 * row.got))
        << row.begin;
  }
}

TEST_P(DatasetsServiceTest, ADatasetHoldsNamedArrays) {
  const DatasetSource source{
      {{"labels", Literal::Vector<uint8_t>({3, 1})}, {"rows", Rows(2)}}};
  std::vector<v1::PutChunk> frames;
  for (const auto& array : source.arrays) {
    const Digest digest = Sha256(array.value.bytes());
    frames.push_back(PutFrame(digest.bytes(), array.value.bytes().size(),
                              BytesOf(array.value)));
  }
  ASSERT_OK(CallMethod<v1::PutReply>(channel_, kPut, frames).status);
  v1::CommitRequest commit;
  commit.set_upload(kPutNumber);
  *commit.mutable_manifest() = ToProto(ManifestOf(source, 1));
  const auto committed = CallMethod<v1::DatasetInfoProto>(channel_, kCommit,
                                                          std::vector{commit});
  ASSERT_OK(committed.status);
  EXPECT_EQ(committed.answer().arrays_size(), 2);
  const std::string& token = committed.answer().token();
  EXPECT_EQ(token, TokenOf(ManifestOf(source, 1)));
  EXPECT_EQ(DataOf(Get(token, 0, 0, "rows")), BytesOf(source.arrays[1].value));
  EXPECT_EQ(DataOf(Get(token, 1, 1, "labels")), "\x01");
  EXPECT_THAT(Get(token, 0, 0, "nothing").status,
              StatusIs(StatusCode::kNotFound, "it has \"labels\", \"rows\""));
}

TEST_P(DatasetsServiceTest, ListNamesWhatIsThereAPageAtATime) {
  std::vector<std::string> tokens;
  for (int64_t n = 1; n <= 3; ++n) {
    tokens.push_back(PutArray(channel_, Rows(n)));
  }
  std::sort(tokens.begin(), tokens.end());
  v1::ListRequest request;
  request.set_limit(2);
  const auto first =
      CallMethod<v1::ListReply>(channel_, kList, std::vector{request});
  ASSERT_OK(first.status);
  ASSERT_EQ(first.answer().datasets_size(), 2);
  EXPECT_EQ(first.answer().datasets(1).token(), tokens[1]);
  EXPECT_EQ(first.answer().datasets(0).durable(), GetParam());
  EXPECT_TRUE(first.answer().more());
  request.set_after(tokens[1]);
  request.set_limit(0xFFFFFFFF);
  const auto last =
      CallMethod<v1::ListReply>(channel_, kList, std::vector{request});
  ASSERT_EQ(last.answer().datasets_size(), 1);
  EXPECT_EQ(last.answer().datasets(0).token(), tokens[2]);
  EXPECT_FALSE(last.answer().more());
}

TEST_P(DatasetsServiceTest, WhatIsDeletedIsGoneAlsoAfterARestart) {
  const std::string token = PutArray(channel_, Rows(2000));
  const std::string kept = PutArray(channel_, Rows(3));
  v1::DeleteRequest request;
  request.set_token(token);
  ASSERT_OK(CallMethod<v1::DeleteReply>(channel_, kDelete,
                                        std::vector{request})
                .status);
  EXPECT_THAT(CallMethod<v1::DeleteReply>(channel_, kDelete,
                                          std::vector{request})
                  .status,
              StatusIs(StatusCode::kNotFound, token));
  EXPECT_EQ(server_->host().datasets().statistics().chunks, 1);
  if (GetParam()) {
    // What kill -9 leaves: the answer came when it was safe.
    server_->Kill();
    ASSERT_OK(server_->Restart());
    channel_ = ConnectRaw(server_->address());
  }
  EXPECT_THAT(Stat(token).status, StatusIs(StatusCode::kNotFound, token));
  EXPECT_OK(Stat(kept).status);
}

TEST_P(DatasetsServiceTest, ARestartKeepsWhatIsOnDisk) {
  const std::string token = PutArray(channel_, Rows(2000));
  ASSERT_OK(server_->Restart());
  channel_ = ConnectRaw(server_->address());
  if (GetParam()) {
    EXPECT_EQ(DataOf(Get(token)), BytesOf(Rows(2000)));
  } else {
    EXPECT_THAT(Stat(token).status, StatusIs(StatusCode::kNotFound, token));
  }
}

}  // namespace
}  // namespace hawser::testing
