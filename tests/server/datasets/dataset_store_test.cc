// What a store answers, the same in memory and on disk.
#include "server/datasets/dataset_store.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AnyStore : public StoreTest, public ::testing::WithParamInterface<bool> {
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
};

INSTANTIATE_TEST_SUITE_P(Tiers, AnyStore, ::testing::Bool(),
                         [](const auto& tier) {
                           return tier.param ? "OnDisk" : "InMemory";
                         });

// ---- what goes in comes out

TEST_P(AnyStore, KeepsArraysOfEverySizeAroundAChunk) {
  for (const int64_t n : {int64_t{0}, int64_t{1}, kChunkBytes - 1, kChunkBytes,
                          kChunkBytes + 1, 2 * kChunkBytes + 5}) {
    const DatasetSource source = Alone(SomeBytes(n));
    ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
    EXPECT_EQ(info.token, TokenOf(ManifestOf(source, 1)));
    EXPECT_EQ(info.bytes, n);
    EXPECT_EQ(info.durable, on_disk());
    ASSERT_OK_AND_ASSIGN(const DatasetInfo stat, store().Stat("a", info.token));
    EXPECT_EQ(stat.arrays.size(), 1u);
    EXPECT_EQ(stat.durable, on_disk());
    ASSERT_OK_AND_ASSIGN(const Literal value,
                         LoadArray(store(), "a", info.token));
    EXPECT_TRUE(value.BitEquals(source.arrays[0].value)) << n;
  }
}

TEST_P(AnyStore, HandsOutChunksOneByOne) {
  const Literal value = SomeBytes(kChunkBytes + 1);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       Put(store(), "a", Alone(value)));
  ASSERT_OK_AND_ASSIGN(const auto array, store().Find("a", info.token, ""));
  ASSERT_EQ(array->chunks.size(), 2u);
  ASSERT_OK_AND_ASSIGN(const ChunkBytes first, store().LoadChunk(*array, 0));
  EXPECT_EQ(first.size, kChunkBytes);
  EXPECT_EQ(absl::string_view(first.data.get(), kChunkBytes),
            BytesOf(value).substr(0, kChunkBytes));
  ASSERT_OK_AND_ASSIGN(const ChunkBytes last, store().LoadChunk(*array, 1));
  EXPECT_EQ(last.size, 1);
  EXPECT_EQ(*last.data, BytesOf(value).back());
}

TEST_P(AnyStore, KeepsNamedArraysOfEveryShape) {
  const DatasetSource source{{{"scalar", Literal::Scalar(1.5)},
                              {"void", Literal::Zeros(Shape::Of(
                                           DType::kF32, {3, 0, 2}))},
                              {"words", Literal::Vector<int64_t>({-1, 7})}}};
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  for (const DatasetSource::Array& array : source.arrays) {
    ASSERT_OK_AND_ASSIGN(const Literal value,
                         LoadArray(store(), "a", info.token, array.name));
    EXPECT_TRUE(value.BitEquals(array.value)) << array.name;
  }
  EXPECT_THAT(store().Find("a", info.token, ""),
              StatusIs(StatusCode::kNotFound,
                       "has no array \"\"; it has \"scalar\", \"void\", "
                       "\"words\""));
}

TEST_P(AnyStore, SharesTheAssembledArrayWhileSomebodyUsesIt) {
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       Put(store(), "a", Alone(SomeBytes(kChunkBytes + 1))));
  ASSERT_OK_AND_ASSIGN(const Literal one, LoadArray(store(), "a", info.token));
  ASSERT_OK_AND_ASSIGN(const Literal two, LoadArray(store(), "a", info.token));
  EXPECT_EQ(one.bytes().data(), two.bytes().data());
  EXPECT_LT(store().statistics().resident_bytes, 2 * kChunkBytes)
      << "assembling gives the chunks' own memory back";
}

TEST_P(AnyStore, KeepsAnArrayOfOneChunkOverAndOver) {
  Literal zeros = Literal::Zeros(Shape::Of(DType::kU8, {3 * kChunkBytes}));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", Alone(zeros)));
  EXPECT_EQ(store().statistics().chunks, 1);
  ASSERT_OK_AND_ASSIGN(const Literal value,
                       LoadArray(store(), "a", info.token));
  EXPECT_TRUE(value.BitEquals(zeros));
}

TEST_P(AnyStore, PuttingAgainChangesNothing) {
  const DatasetSource source = Alone(SomeBytes(100));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo first, Put(store(), "a", source));
  const auto before = store().statistics();
  ASSERT_OK_AND_ASSIGN(const DatasetInfo second, Put(store(), "a", source));
  EXPECT_EQ(first.token, second.token);
  EXPECT_EQ(store().statistics().datasets, before.datasets);
  EXPECT_EQ(store().statistics().received_bytes, before.received_bytes);
}

TEST_P(AnyStore, DatasetsShareTheirArrays) {
  const Literal shared = SomeBytes(100);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo alone,
                       Put(store(), "a", Alone(shared)));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo pair,
      Put(store(), "a", {{{"x", shared}, {"y", SomeBytes(100, 1)}}}));
  ASSERT_OK_AND_ASSIGN(const auto one, store().Find("a", alone.token, ""));
  ASSERT_OK_AND_ASSIGN(const auto two, store().Find("a", pair.token, "x"));
  EXPECT_EQ(one, two);
}

// ---- what is missing

TEST_P(AnyStore, FindMissingNamesWhatMustBeUploaded) {
  const DatasetSource source = Alone(SomeBytes(2 * kChunkBytes + 1));
  const DatasetManifest manifest = ManifestOf(source, 1);
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0, 1, 2));
  ASSERT_OK(PutChunk(store(), "a", 1, manifest.arrays[0].chunks[1], kChunkBytes,
                     BytesOf(source.arrays[0].value)
                         .substr(kChunkBytes, kChunkBytes)));
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0, 2));
  const Digest there = manifest.arrays[0].chunks[1], not_there;
  EXPECT_THAT(
      MissingOf(store(), "a", 1, {there, not_there, there, not_there}),
      ElementsAre(1, 3));
  EXPECT_THAT(MissingOf(store(), "a", 1, {}), IsEmpty());
}

TEST_P(AnyStore, UploadsAreForgottenUnlessRenewedOrCommitted) {
  Reopen({.upload_ttl = absl::Minutes(10)});
  const DatasetSource kept = Alone(SomeBytes(10, 1)),
                      renewed = Alone(SomeBytes(20, 2)),
                      forgotten = Alone(SomeBytes(30, 3));
  ASSERT_OK(Put(store(), "a", kept));
  ASSERT_OK(PutChunks(store(), "a", renewed));
  ASSERT_OK(PutChunks(store(), "a", forgotten));
  now_ += absl::Minutes(9);
  EXPECT_THAT(Missing(store(), "a", renewed), IsEmpty());
  now_ += absl::Minutes(1);
  store().Sweep();
  EXPECT_EQ(store().statistics().chunks, 2);
  EXPECT_THAT(Missing(store(), "a", kept), IsEmpty());
  EXPECT_THAT(Missing(store(), "a", renewed), IsEmpty());
  EXPECT_THAT(Missing(store(), "a", forgotten), ElementsAre(0));
  store().Stop(absl::InfiniteFuture());
  EXPECT_EQ(folder_.Find("chunks", "").size(), on_disk() ? 2u : 0u);
}

TEST_P(AnyStore, AnUploadThatGoesOnKeepsItsFirstChunks) {
  constexpr int kChunks = 5;
  const DatasetSource source = Alone(SomeBytes(kChunks * kChunkBytes));
  const DatasetManifest manifest = ManifestOf(source, 1);
  for (int i = 0; i < kChunks; ++i) {
    ASSERT_OK(PutChunk(
        store(), "a", UploadOf(manifest), manifest.arrays[0].chunks[i],
        kChunkBytes,
        BytesOf(source.arrays[0].value).substr(i * kChunkBytes, kChunkBytes)));
    now_ += absl::Minutes(9);
    store().Sweep();
  }
  EXPECT_OK(Commit(store(), "a", manifest));
}

// ---- what is refused

TEST_P(AnyStore, UploadsHoldNoMoreThanTheyMay) {
  Reopen({.tenant_upload_chunks = 3});
  const DatasetSource source = Alone(SomeBytes(2 * kChunkBytes));
  const DatasetManifest manifest = ManifestOf(source, 1);
  const std::vector<Digest>& chunks = manifest.arrays[0].chunks;
  constexpr uint64_t kOther = 1;
  const absl::string_view more = "1 uploads hold 2 chunks, the most is 3";
  ASSERT_OK(PutChunks(store(), "a", source));
  EXPECT_THAT(store().FindMissing("a", kOther, chunks),
              StatusIs(StatusCode::kResourceExhausted, more));
  EXPECT_OK(store().FindMissing("b", kOther, chunks));
  EXPECT_OK(store().FindMissing("a", kOther, {chunks[0]}));
  // What it holds already, and what is not there, is no more than before.
  EXPECT_OK(store().FindMissing(
      "a", kOther, {chunks[0], Sha256("a"), Sha256("b"), Sha256("c")}));
  EXPECT_THAT(PutChunk(store(), "a", kOther, Sha256(SomeBytes(1).bytes()), 1,
                       BytesOf(SomeBytes(1))),
              StatusIs(StatusCode::kResourceExhausted, "hold 3 chunks"));
  ASSERT_OK(Commit(store(), "a", manifest));
  EXPECT_OK(store().FindMissing("a", kOther, chunks));
  now_ += absl::Minutes(10);
  store().Sweep();
  EXPECT_OK(Put(store(), "a", Alone(SomeBytes(1))));
}

struct ChunkRow {
  const char* name;
  uint64_t claimed;
  int64_t sent;
  bool right_digest;
  StatusCode code;
  const char* part;
};

TEST_P(AnyStore, RefusesChunksThatAreNotWhatTheyClaim) {
  constexpr ChunkRow kRows[] = {
      {"empty", 0, 0, true, StatusCode::kInvalidArgument,
       "claims 0 bytes, a chunk has 1 to 4194304"},
      {"one too large", kChunkBytes + 1, 0, true, StatusCode::kInvalidArgument,
       "claims 4194305 bytes"},
      {"2^63", uint64_t{1} << 63, 0, true, StatusCode::kInvalidArgument,
       "claims 9223372036854775808 bytes"},
      {"all ones", std::numeric_limits<uint64_t>::max(), 0, true,
       StatusCode::kInvalidArgument, "claims 18446744073709551615 bytes"},
      {"nothing sent", 10, 0, true, StatusCode::kDataLoss,
       "ends 10 bytes too early"},
      {"a byte short", 10, 9, true, StatusCode::kDataLoss,
       "ends 1 bytes too early"},
      {"other bytes", 10, 10, false, StatusCode::kDataLoss,
       "does not match its bytes, whose digest is"},
      {"other bytes, a whole chunk", kChunkBytes, kChunkBytes, false,
       StatusCode::kDataLoss, "does not match its bytes"},
  };
  for (const ChunkRow& row : kRows) {
    const Literal bytes = SomeBytes(row.sent);
    const Digest digest = Sha256(row.right_digest ? bytes.bytes()
                                                  : SomeBytes(1, 9).bytes());
    const absl::Status status =
        PutChunk(store(), "a", 1, digest, row.claimed, BytesOf(bytes));
    EXPECT_THAT(status, StatusIs(row.code, row.part)) << row.name;
    EXPECT_THAT(status.message(), HasSubstr(digest.ToHex())) << row.name;
    EXPECT_THAT(MissingOf(store(), "a", 1, {digest}), ElementsAre(0))
        << row.name;
  }
  EXPECT_EQ(store().statistics().received_bytes, 0);
  EXPECT_EQ(store().statistics().resident_bytes, 0);
  EXPECT_EQ(store().statistics().chunks, 0);
}

TEST_P(AnyStore, AnAbandonedPutLeavesNothing) {
  const Literal bytes = SomeBytes(1000);
  {
    const auto asked = AskForRoom(store(), "a", 1, Sha256(bytes.bytes()), 1000);
    ASSERT_OK(asked->Await());
    asked->receiver->Advance(999);
    EXPECT_EQ(store().statistics().resident_bytes, 1000);
  }
  EXPECT_EQ(store().statistics().resident_bytes, 0);
  EXPECT_EQ(store().statistics().chunks, 0);
  EXPECT_THAT(Files(), IsEmpty());
}

// `row` damages the manifest of u8[5] that the tenant has uploaded.
struct ManifestRow {
  const char* name;
  void (*damage)(DatasetManifest& manifest);
  StatusCode code;
  const char* part;
};

constexpr ManifestRow kManifestRows[] = {
    {"no array", [](DatasetManifest& m) { m.arrays.clear(); },
     StatusCode::kInvalidArgument, "a dataset has no array"},
    {"a chunk never uploaded",
     [](DatasetManifest& m) { m.arrays[0].chunks[0] = Digest(); },
     StatusCode::kFailedPrecondition, "has not been uploaded"},
    {"a chunk of another size",
     [](DatasetManifest& m) { m.arrays[0].shape = Shape::Of(DType::kU8, {6}); },
     StatusCode::kInvalidArgument, "has 5 bytes, u8[6] needs 6"},
    {"a chunk too many",
     [](DatasetManifest& m) {
       m.arrays[0].chunks.push_back(m.arrays[0].chunks[0]);
     },
     StatusCode::kInvalidArgument, "u8[5] has 2 chunk digests, needs 1"},
    {"a chunk too few", [](DatasetManifest& m) { m.arrays[0].chunks.clear(); },
     StatusCode::kInvalidArgument, "has 0 chunk digests, needs 1"},
    {"a second array without a name",
     [](DatasetManifest& m) { m.arrays.push_back(m.arrays[0]); },
     StatusCode::kInvalidArgument, "several arrays must name each"},
    {"two arrays of one name",
     [](DatasetManifest& m) {
       m.arrays[0].name = "x";
       m.arrays.push_back(m.arrays[0]);
     },
     StatusCode::kInvalidArgument, "two arrays are called \"x\""},
    {"arrays out of order",
     [](DatasetManifest& m) {
       m.arrays.push_back(m.arrays[0]);
       m.arrays[0].name = "y";
       m.arrays[1].name = "x";
     },
     StatusCode::kInvalidArgument, "not sorted by name"},
    {"a name of 256 bytes",
     [](DatasetManifest& m) { m.arrays[0].name = std::string(256, 'n'); },
     StatusCode::kInvalidArgument, "name has 256 bytes, the most is 255"},
    {"a name that rings the bell",
     [](DatasetManifest& m) { m.arrays[0].name = "\a"; },
     StatusCode::kInvalidArgument, "name is not printable ASCII"},
};

TEST_P(AnyStore, RefusesManifestsThatDoNotHold) {
  const DatasetSource source = Alone(SomeBytes(5));
  ASSERT_OK(PutChunks(store(), "a", source));
  for (const ManifestRow& row : kManifestRows) {
    DatasetManifest manifest = ManifestOf(source, 1);
    row.damage(manifest);
    EXPECT_THAT(Commit(store(), "a", manifest), StatusIs(row.code, row.part))
        << row.name;
  }
  EXPECT_EQ(store().statistics().datasets, 0);
  EXPECT_THAT(Commit(store(), "a", ManifestOf(source, 1)), IsOk());
}

TEST_P(AnyStore, RefusesTokensItDoesNotKnow) {
  const std::string unknown = TokenOf(Digest());
  for (const std::string& text :
       {std::string(), std::string("hw1-"), unknown + "a",
        unknown.substr(0, unknown.size() - 1), "hw2" + unknown.substr(3),
        std::string(1 << 20, 'x')}) {
    EXPECT_THAT(store().Stat("a", text),
                StatusIs(StatusCode::kInvalidArgument,
                         "is not a dataset token (hw1-...)"));
    EXPECT_THAT(store().Find("a", text, ""),
                StatusIs(StatusCode::kInvalidArgument, "token"));
  }
  EXPECT_THAT(store().Stat("a", unknown),
              StatusIs(StatusCode::kNotFound, "is not known on this server"));
}

// ---- the tenant wall

TEST_P(AnyStore, NobodyLearnsWhatOthersHold) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  const DatasetManifest manifest = ManifestOf(source, 1);
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", source));
  EXPECT_THAT(Missing(store(), "b", source), ElementsAre(0, 1));
  EXPECT_THAT(Commit(store(), "b", manifest),
              StatusIs(StatusCode::kFailedPrecondition,
                       "chunk 0 of array \"\""));
  const std::string unknown = TokenOf(Digest());
  std::string words(store().Stat("b", unknown).status().message());
  words.replace(words.find(unknown), unknown.size(), info.token);
  EXPECT_THAT(store().Stat("b", info.token),
              StatusIs(StatusCode::kNotFound, words));
  EXPECT_THAT(store().Find("b", info.token, ""),
              StatusIs(StatusCode::kNotFound, words));
}

TEST_P(AnyStore, EqualBytesOfTwoTenantsAreStoredOnce) {
  const DatasetSource source = Alone(SomeBytes(kChunkBytes + 1));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo one, Put(store(), "a", source));
  ASSERT_OK_AND_ASSIGN(const DatasetInfo two, Put(store(), "b", source));
  EXPECT_EQ(one.token, two.token);
  const auto statistics = store().statistics();
  EXPECT_EQ(statistics.chunks, 2);
  EXPECT_EQ(statistics.datasets, 2);
  EXPECT_EQ(statistics.received_bytes, 2 * (kChunkBytes + 1))
      << "b had to show all its bytes";
  EXPECT_LE(statistics.resident_bytes, kChunkBytes + 1);
}

TEST_P(AnyStore, AChunkStaysForTheTenantWhoStillNamesIt) {
  const DatasetSource source = Alone(SomeBytes(100));
  ASSERT_OK(PutChunks(store(), "a", source));
  now_ += absl::Minutes(9);
  ASSERT_OK(PutChunks(store(), "b", source));
  now_ += absl::Minutes(1);
  store().Sweep();
  EXPECT_THAT(Missing(store(), "a", source), ElementsAre(0));
  EXPECT_THAT(Commit(store(), "b", ManifestOf(source, 1)), IsOk());
}

// ---- threads

TEST_P(AnyStore, ManyThreadsPutTheSameAndOtherThings) {
  const DatasetSource same = Alone(SomeBytes(50000));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string tenant(1, static_cast<char>('a' + t % 2));
      for (int i = 0; i < 10; ++i) {
        const DatasetSource own = Alone(SomeBytes(1000, 100 * t + i));
        for (const DatasetSource* source : {&same, &own}) {
          ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                               Put(store(), tenant, *source));
          ASSERT_OK_AND_ASSIGN(const Literal value,
                               LoadArray(store(), tenant, info.token));
          ASSERT_TRUE(value.BitEquals(source->arrays[0].value));
        }
        store().Sweep();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(store().statistics().chunks, 1 + 4 * 10);
  EXPECT_EQ(store().statistics().datasets, 2 + 4 * 10);
}

}  // namespace
}  // namespace hawser::server
