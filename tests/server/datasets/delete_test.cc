// Listing and deleting datasets, in memory and on disk.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::Status Delete(DatasetStore& store, absl::string_view tenant,
                    absl::string_view token) {
  Promise<bool> promise;
  store.Delete(tenant, token, [&](const absl::Status& status) {
    if (status.ok()) {
      promise.Set(true);
    } else {
      promise.Set(status);
    }
  });
  return promise.future().Await().status();
}

std::vector<std::string> TokensOf(const DatasetPage& page) {
  std::vector<std::string> tokens;
  for (const DatasetInfo& info : page.datasets) tokens.push_back(info.token);
  return tokens;
}

class DeleteTest : public StoreTest,
                   public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override { Reopen(); }
  bool on_disk() const { return GetParam(); }
  void Reopen(DatasetStoreOptions options = {}) {
    if (on_disk()) {
      Open(std::move(options));
    } else {
      OpenInMemory(std::move(options));
    }
  }
  std::string Token(absl::string_view tenant, const DatasetSource& source) {
    auto info = Put(store(), tenant, source);
    EXPECT_OK(info);
    return info.ok() ? info->token : "";
  }
  // Files once all that is queued has been done.
  size_t ChunkFilesLeft() {
    store().Stop(absl::InfiniteFuture());
    return folder_.Find("chunks", "").size();
  }
};

INSTANTIATE_TEST_SUITE_P(Tiers, DeleteTest, ::testing::Bool(),
                         [](const auto& tier) {
                           return tier.param ? "OnDisk" : "InMemory";
                         });

TEST_P(DeleteTest, ListGivesATenantsOwnInOrderAPageAtATime) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 5; ++i)
    tokens.push_back(Token("a", Alone(SomeBytes(9, i))));
  Token("b", Alone(SomeBytes(9, 7)));
  std::sort(tokens.begin(), tokens.end());
  EXPECT_EQ(TokensOf(store().List("a", {})), tokens);
  EXPECT_FALSE(store().List("a", {}).more);
  EXPECT_EQ(store().List("b", {}).datasets.size(), 1u);
  EXPECT_THAT(store().List("nobody", {}).datasets, IsEmpty());

  const DatasetPage first = store().List("a", {.limit = 2});
  EXPECT_THAT(TokensOf(first), ElementsAre(tokens[0], tokens[1]));
  EXPECT_TRUE(first.more);
  const DatasetPage last = store().List("a", {.after = tokens[1], .limit = 3});
  EXPECT_THAT(TokensOf(last), ElementsAre(tokens[2], tokens[3], tokens[4]));
  EXPECT_FALSE(last.more);
  EXPECT_THAT(TokensOf(store().List("a", {.prefix = tokens[3]})),
              ElementsAre(tokens[3]));
  EXPECT_THAT(store().List("a", {.prefix = "hw1-!"}).datasets, IsEmpty());
  EXPECT_EQ(first.datasets[0].bytes, 9);
  EXPECT_EQ(first.datasets[0].durable, on_disk());
}

TEST_P(DeleteTest, ADeletedDatasetIsGoneWithItsChunks) {
  const DatasetSource source = Alone(SomeBytes(2 * kChunkBytes + 1));
  const std::string token = Token("a", source);
  ASSERT_OK(Delete(store(), "a", token));
  EXPECT_THAT(store().Stat("a", token), StatusIs(StatusCode::kNotFound, token));
  EXPECT_THAT(store().Find("a", token, ""),
              StatusIs(StatusCode::kNotFound, token));
  EXPECT_THAT(store().List("a", {}).datasets, IsEmpty());
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0, 1, 2));
  EXPECT_EQ(store().statistics().chunks, 0);
  EXPECT_EQ(store().statistics().datasets, 0);
  EXPECT_EQ(ChunkFilesLeft(), 0u);
  EXPECT_EQ(store().statistics().resident_bytes, 0);
  Reopen();
  EXPECT_THAT(store().Stat("a", token), StatusIs(StatusCode::kNotFound, token));
}

TEST_P(DeleteTest, ADatasetThatWasPutTwiceIsGoneWithItsChunks) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  const std::string token = Token("a", source);
  ASSERT_EQ(Token("a", source), token);
  EXPECT_EQ(store().Usage("a").upload_bytes, 0);
  ASSERT_OK(Delete(store(), "a", token));
  EXPECT_EQ(store().Usage("a").bytes, 0);
  EXPECT_EQ(store().statistics().chunks, 0);
}

// Two put the same at once: what the first commits and a third deletes stays
// for the second, who was told that it is there.
TEST_P(DeleteTest, WhatAnotherWasToldStaysUntilItsCommit) {
  constexpr uint64_t kOther = 1, kThird = 2;
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  const std::string token = Token("a", source);
  const DatasetManifest manifest = ManifestOf(source, 1);
  const std::vector<Digest>& chunks = manifest.arrays[0].chunks;
  EXPECT_THAT(MissingOf(store(), "a", kOther, chunks), IsEmpty());
  EXPECT_EQ(Token("a", source), token);  // its own FindMissing, and Commit
  ASSERT_OK(Delete(store(), "a", token));
  EXPECT_THAT(MissingOf(store(), "a", kThird, chunks), IsEmpty());
  EXPECT_EQ(Token("a", source), token);
  ASSERT_OK(Delete(store(), "a", token));
  EXPECT_GT(store().Usage("a").upload_bytes, 0);  // two who never came back
}

// Of one whose time is over nothing is left that its Commit could end.
TEST_P(DeleteTest, ALateCommitEndsNobodyElsesUpload) {
  constexpr uint64_t kLate = 1, kOther = 2;
  const DatasetSource source = Alone(SomeBytes(10));
  const std::string token = Token("a", source);
  const std::vector<Digest> chunks = ManifestOf(source, 1).arrays[0].chunks;
  ASSERT_THAT(MissingOf(store(), "a", kLate, chunks), IsEmpty());
  now_ += absl::Minutes(10);
  store().Sweep();
  ASSERT_THAT(MissingOf(store(), "a", kOther, chunks), IsEmpty());
  store().Commit("a", kLate, ManifestOf(source, 1), false,
                 [](const auto& info) { EXPECT_OK(info); });
  ASSERT_OK(Delete(store(), "a", token));
  EXPECT_EQ(store().Usage("a").upload_bytes, 10);
}

TEST_P(DeleteTest, AskingForWhatIsMissingKeepsAnUpload) {
  constexpr uint64_t kUpload = 1;
  const DatasetSource source = Alone(SomeBytes(10));
  ASSERT_OK(Delete(store(), "a", [&] {
    const std::string token = Token("a", source);
    EXPECT_THAT(MissingOf(store(), "a", kUpload,
                          ManifestOf(source, 1).arrays[0].chunks),
                IsEmpty());
    return token;
  }()));
  for (int i = 0; i < 3; ++i) {
    now_ += absl::Minutes(9);
    EXPECT_THAT(MissingOf(store(), "a", kUpload, {{Sha256("unknown")}}),
                ElementsAre(0));
    store().Sweep();
    EXPECT_EQ(store().Usage("a").upload_bytes, 10);
  }
  now_ += absl::Minutes(10);
  store().Sweep();
  EXPECT_EQ(store().Usage("a").bytes, 0);
}

// A directory in its place: the record cannot be removed.
TEST_F(StoreTest, ARecordThatCannotBeRemovedKeepsItsChunks) {
  Open();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       Put(store(), "a", Alone(SomeBytes(10))));
  const std::string record = folder_.Find("datasets")[0];
  ASSERT_EQ(unlink(record.c_str()), 0);
  ASSERT_EQ(mkdir(record.c_str(), 0700), 0);
  EXPECT_THAT(Delete(store(), "a", info.token),
              StatusIs(StatusCode::kInternal, "was not deleted"));
  EXPECT_OK(store().Stat("a", info.token));
  store().Sweep();
  store().Stop(absl::InfiniteFuture());
  EXPECT_EQ(folder_.Find("chunks").size(), 1u);
}

TEST_P(DeleteTest, UnknownAndForeignTokensAreAlike) {
  const std::string token = Token("a", Alone(SomeBytes(10)));
  const std::string unknown = TokenOf(Digest());
  std::string foreign(Delete(store(), "b", token).message());
  const absl::Status nobodys = Delete(store(), "b", unknown);
  EXPECT_EQ(nobodys.code(), StatusCode::kNotFound);
  foreign.replace(foreign.find(token), token.size(), unknown);
  EXPECT_EQ(foreign, nobodys.message());
  EXPECT_THAT(Delete(store(), "a", "hw1-short"),
              StatusIs(StatusCode::kInvalidArgument, "hw1-short"));
  EXPECT_OK(store().Stat("a", token));
}

TEST_P(DeleteTest, WhatAnotherDatasetNamesStays) {
  const Literal shared = SomeBytes(kChunkBytes + 5);
  const std::string alone = Token("a", Alone(shared));
  const std::string pair =
      Token("a", {{{"x", shared}, {"y", SomeBytes(100, 1)}}});
  ASSERT_OK(Delete(store(), "a", alone));
  ASSERT_OK_AND_ASSIGN(const Literal value, LoadArray(store(), "a", pair, "x"));
  EXPECT_TRUE(value.BitEquals(shared));
  EXPECT_EQ(store().statistics().chunks, 3);
  ASSERT_OK(Delete(store(), "a", pair));
  EXPECT_EQ(store().statistics().chunks, 0);
}

TEST_P(DeleteTest, WhatAnotherTenantNamesStays) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 5));
  const std::string token = Token("a", source);
  ASSERT_EQ(Token("b", source), token);
  ASSERT_OK(Delete(store(), "a", token));
  EXPECT_EQ(Missing(store(), "a", source).size(), 2u);
  EXPECT_EQ(store().Stat("a", token).status().code(), StatusCode::kNotFound);
  ASSERT_OK_AND_ASSIGN(const Literal value, LoadArray(store(), "b", token));
  EXPECT_TRUE(value.BitEquals(source.arrays[0].value));
  if (!on_disk()) return;
  Reopen();
  ASSERT_OK_AND_ASSIGN(const Literal again, LoadArray(store(), "b", token));
  EXPECT_TRUE(again.BitEquals(source.arrays[0].value));
  EXPECT_EQ(store().Stat("a", token).status().code(), StatusCode::kNotFound);
}

TEST_P(DeleteTest, AnArrayInUseCanStillBeReadAndGoesLater) {
  const Literal value = SomeBytes(2 * kChunkBytes);
  const std::string token = Token("a", Alone(value));
  Reopen({.memory_bytes = 3 * kChunkBytes});
  if (!on_disk()) {
    ASSERT_EQ(Token("a", Alone(value)), token);
  }
  {
    ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", token, ""));
    ASSERT_OK(Delete(store(), "a", token));
    store().Sweep();
    // On disk nothing of it has been read yet.
    ASSERT_OK_AND_ASSIGN(const Literal part,
                         store().LoadRows(*array, {kChunkBytes - 1, 2}));
    EXPECT_EQ(BytesOf(part), BytesOf(value).substr(kChunkBytes - 1, 2));
    ASSERT_OK_AND_ASSIGN(const Literal whole, store().Load(*array));
    EXPECT_TRUE(whole.BitEquals(value));
  }
  store().Sweep();
  EXPECT_EQ(store().statistics().chunks, 0);
  EXPECT_EQ(store().statistics().resident_bytes, 0);
  EXPECT_EQ(ChunkFilesLeft(), 0u);
}

// What was in use when it was deleted makes room once it is not.
TEST_P(DeleteTest, WhatIsNoLongerInUseMakesRoomForTheNextUpload) {
  Reopen({.memory_bytes = 3 * kChunkBytes});
  const std::string token = Token("a", Alone(SomeBytes(2 * kChunkBytes)));
  {
    ASSERT_OK_AND_ASSIGN(const auto in_use, store().Find("a", token, ""));
    ASSERT_OK(Delete(store(), "a", token));
    EXPECT_OK(store().Load(*in_use));
  }
  Token("a", Alone(SomeBytes(2 * kChunkBytes, 1)));
  EXPECT_EQ(store().statistics().chunks, 2);
  EXPECT_EQ(ChunkFilesLeft(), on_disk() ? 2u : 0u);
}

TEST_P(DeleteTest, PutAgainAfterADeleteIsWhole) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  for (int round = 0; round < 3; ++round) {
    const std::string token = Token("a", source);
    ASSERT_OK_AND_ASSIGN(const auto in_use, store().Find("a", token, ""));
    if (round == 1) store().Sweep();
    ASSERT_OK(Delete(store(), "a", token));
    EXPECT_EQ(Missing(store(), "a", source).size(), 2u);
    EXPECT_OK(store().Load(*in_use));
  }
  const std::string token = Token("a", source);
  store().Sweep();
  ASSERT_OK_AND_ASSIGN(const Literal value, LoadArray(store(), "a", token));
  EXPECT_TRUE(value.BitEquals(source.arrays[0].value));
  EXPECT_EQ(store().statistics().chunks, 2);
  EXPECT_EQ(ChunkFilesLeft(), on_disk() ? 2u : 0u);
  if (!on_disk()) return;
  Reopen();
  ASSERT_OK_AND_ASSIGN(const Literal again, LoadArray(store(), "a", token));
  EXPECT_TRUE(again.BitEquals(source.arrays[0].value));
}

TEST_P(DeleteTest, ManyThreadsPutAndDeleteTheSame) {
  const DatasetSource same = Alone(SomeBytes(50000));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string tenant(1, static_cast<char>('a' + t));
      for (int i = 0; i < 20; ++i) {
        ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                             Put(store(), tenant, same));
        ASSERT_OK_AND_ASSIGN(const Literal value,
                             LoadArray(store(), tenant, info.token));
        ASSERT_TRUE(value.BitEquals(same.arrays[0].value));
        ASSERT_OK(Delete(store(), tenant, info.token));
        if (i % 5 == t) store().Sweep();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  store().Sweep();
  EXPECT_EQ(store().statistics().chunks, 0);
  EXPECT_EQ(store().statistics().datasets, 0);
  EXPECT_EQ(ChunkFilesLeft(), 0u);
}

// ---- rows

TEST_P(DeleteTest, RowsComeFromTheirChunksAlone) {
  Literal value = Literal::Uninitialized(Shape::Of(DType::kS32, {3000, 1024}));
  for (int64_t i = 0; i < 3000 * 1024; ++i) {
    value.mutable_data<int32_t>()[i] = static_cast<int32_t>(i);
  }
  const std::string token = Token("a", Alone(value));  // chunks of 1024 rows
  const RowRange kRows[] = {{0, 1},       {1023, 2}, {1024, 1024},
                            {1024, 0},    {3000, 0}, {0, 3000},
                            {1000, 1500}, {2999, 1}, {2048, 952}};
  for (const RowRange& rows : kRows) {
    if (on_disk()) Reopen();
    ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", token, ""));
    ASSERT_OK_AND_ASSIGN(const Literal part, store().LoadRows(*array, rows));
    EXPECT_EQ(part.shape(), Shape::Of(DType::kS32, {rows.count, 1024}));
    EXPECT_EQ(BytesOf(part),
              BytesOf(value).substr(rows.begin * 4096, rows.count * 4096));
    if (!on_disk() || rows.count == 0) continue;
    const int64_t chunks =
        (rows.begin + rows.count - 1) / 1024 - rows.begin / 1024 + 1;
    EXPECT_LE(store().statistics().resident_bytes,
              chunks * kChunkBytes + rows.count * 4096)
        << rows.begin;
  }
  ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", token, ""));
  ASSERT_OK_AND_ASSIGN(const Literal whole, store().Load(*array));
  ASSERT_OK_AND_ASSIGN(const Literal shared,
                       store().LoadRows(*array, {1000, 100}));
  EXPECT_EQ(shared.bytes().data(), whole.bytes().data() + 1000 * 4096);
  EXPECT_THAT(store().LoadRows(*array, {2999, 2}),
              StatusIs(StatusCode::kInvalidArgument,
                       "rows 2999 and up, 2 of them, of s32[3000,1024]"));
}

TEST_F(StoreTest, RowsOfWhatIsLargerThanMemoryAreRead) {
  Open({.memory_bytes = 3 * kChunkBytes});
  const Literal value = SomeBytes(8 * kChunkBytes);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", Alone(value)));
  ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", info.token, ""));
  EXPECT_THAT(store().Load(*array),
              StatusIs(StatusCode::kResourceExhausted, "does not fit"));
  for (int64_t at = 100; at + 1000 < 8 * kChunkBytes; at += kChunkBytes / 2) {
    ASSERT_OK_AND_ASSIGN(const Literal part,
                         store().LoadRows(*array, {at, 1000}));
    ASSERT_EQ(BytesOf(part), BytesOf(value).substr(at, 1000)) << at;
    EXPECT_LE(store().statistics().resident_bytes, 3 * kChunkBytes);
  }
}

}  // namespace
}  // namespace hawser::server
