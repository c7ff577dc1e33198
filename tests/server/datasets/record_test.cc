// The bytes of files: what was written is read back, and nothing else is.
#include "server/datasets/storage/record.h"

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;

ChunkHeader SomeHeader() {
  return {Sha256(SomeBytes(3).bytes()), 1234, "some tenant"};
}
// The encoded fields, without the zeros behind them.
size_t HeaderBytes() {
  return 8 + 8 + 8 + Digest::kSize + 8 + 8 + SomeHeader().tenant.size() +
         Digest::kSize;
}

DatasetRecord SomeRecord() {
  return {"some tenant",
          ManifestOf({{{"x", SomeBytes(kChunkBytes + 1)},
                       {"y", Literal::Of<float>({1, 2}, {1, 2})}}},
                     1)};
}

TEST(ChunkHeaders, AreReadBack) {
  const std::string bytes = EncodeChunkHeader(SomeHeader());
  ASSERT_EQ(bytes.size(), static_cast<size_t>(kChunkHeaderBytes));
  ASSERT_OK_AND_ASSIGN(const ChunkHeader header, DecodeChunkHeader(bytes));
  EXPECT_EQ(header.digest, SomeHeader().digest);
  EXPECT_EQ(header.bytes, 1234);
  EXPECT_EQ(header.tenant, "some tenant");
  EXPECT_EQ(bytes.find_last_not_of('\0'), HeaderBytes() - 1);
}

TEST(ChunkHeaders, AnyOtherBitIsRefused) {
  const std::string good = EncodeChunkHeader(SomeHeader());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1 << i % 8;
    EXPECT_THAT(DecodeChunkHeader(bad), StatusIs(StatusCode::kDataLoss, ""))
        << i;
  }
}

TEST(ChunkHeaders, AnyCutIsRefused) {
  const std::string good = EncodeChunkHeader(SomeHeader());
  for (size_t n = 0; n < HeaderBytes(); ++n) {
    EXPECT_THAT(DecodeChunkHeader(good.substr(0, n)),
                StatusIs(StatusCode::kDataLoss, ""))
        << n;
  }
}

TEST(ChunkHeaders, ImpossibleSizesAreRefused) {
  for (const int64_t bytes : {int64_t{0}, int64_t{-1}, kChunkBytes + 1,
                              std::numeric_limits<int64_t>::min()}) {
    EXPECT_THAT(DecodeChunkHeader(
                    EncodeChunkHeader({Digest(), bytes, "some tenant"})),
                StatusIs(StatusCode::kDataLoss, "a damaged chunk header"));
  }
}

TEST(ChunkHeaders, TheLongestTenantFits) {
  const std::string tenant(kMaxTenantBytes, 't');
  ASSERT_OK_AND_ASSIGN(
      const ChunkHeader header,
      DecodeChunkHeader(EncodeChunkHeader({Digest(), 1, tenant})));
  EXPECT_EQ(header.tenant, tenant);
}

TEST(DatasetRecords, AreReadBack) {
  ASSERT_OK_AND_ASSIGN(const DatasetRecord record,
                       DecodeDataset(EncodeDataset(SomeRecord())));
  EXPECT_EQ(record.tenant, "some tenant");
  EXPECT_EQ(TokenOf(record.manifest), TokenOf(SomeRecord().manifest));
  ASSERT_EQ(record.manifest.arrays.size(), 2u);
  EXPECT_EQ(record.manifest.arrays[0].chunks.size(), 2u);
  EXPECT_EQ(record.manifest.arrays[1].shape, Shape::Of(DType::kF32, {1, 2}));
}

TEST(DatasetRecords, AnyOtherBitIsRefused) {
  const std::string good = EncodeDataset(SomeRecord());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1 << i % 8;
    EXPECT_THAT(DecodeDataset(bad), StatusIs(StatusCode::kDataLoss, "")) << i;
  }
}

TEST(DatasetRecords, AnyOtherLengthIsRefused) {
  const std::string good = EncodeDataset(SomeRecord());
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_THAT(DecodeDataset(good.substr(0, n)),
                StatusIs(StatusCode::kDataLoss, ""))
        << n;
  }
  EXPECT_THAT(DecodeDataset(good + std::string(1, '\0')),
              StatusIs(StatusCode::kDataLoss, "1 bytes behind the digest"));
}

TEST(DatasetRecords, ManifestsThatDoNotHoldAreRefused) {
  DatasetRecord no_arrays = SomeRecord(), unsorted = SomeRecord(),
                chunk_short = SomeRecord();
  no_arrays.manifest.arrays.clear();
  std::swap(unsorted.manifest.arrays[0], unsorted.manifest.arrays[1]);
  chunk_short.manifest.arrays[0].chunks.pop_back();
  EXPECT_THAT(DecodeDataset(EncodeDataset(no_arrays)),
              StatusIs(StatusCode::kDataLoss, "a dataset has no array"));
  EXPECT_THAT(DecodeDataset(EncodeDataset(unsorted)),
              StatusIs(StatusCode::kDataLoss, "not sorted by name"));
  EXPECT_THAT(DecodeDataset(EncodeDataset(chunk_short)),
              StatusIs(StatusCode::kDataLoss, "has 1 chunk digests, needs 2"));
}

}  // namespace
}  // namespace hawser::server
