// What stays and what goes: leases, pins, quotas, limits of memory and disk.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/datasets/store_fixture.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr absl::string_view kOwner = "me";

class RetentionTest : public StoreTest,
                      public ::testing::WithParamInterface<bool> {
 protected:
  // Room for four datasets of a MiB, on disk or, where there is none, in
  // memory.
  static DatasetStoreOptions FourMiB() {
    DatasetStoreOptions options;
    if (GetParam()) {
      options.disk_bytes = 4 * kMiB;
    } else {
      options.memory_bytes = 4 * kMiB;
    }
    return options;
  }
  void Reopen(DatasetStoreOptions options) {
    if (GetParam()) {
      Open(std::move(options));
    } else {
      OpenInMemory(std::move(options));
    }
  }
  absl::Status PutMiB(int seed, absl::string_view tenant = kOwner) {
    return Put(store(), tenant, Alone(SomeBytes(kMiB, seed))).status();
  }
  static std::string Token(int seed) {
    return TokenOf(ManifestOf(Alone(SomeBytes(kMiB, seed)), 1));
  }
  bool Has(int seed, absl::string_view tenant = kOwner) {
    return store().Stat(tenant, Token(seed)).ok();
  }
  void Later(absl::Duration time) { now_ += time; }
};

absl::StatusOr<DatasetInfo> Pin(DatasetStore& store, absl::string_view tenant,
                                absl::string_view token, absl::Duration ttl) {
  Promise<DatasetInfo> promise;
  store.Pin(tenant, token, ttl, [&](absl::StatusOr<DatasetInfo> info) {
    promise.Set(std::move(info));
  });
  return promise.future().Await();
}

TEST_P(RetentionTest, TheLeastRecentlyUsedGoesAfterItsLease) {
  Reopen(FourMiB());
  for (int seed = 0; seed < 4; ++seed) {
    ASSERT_OK(PutMiB(seed));
    Later(absl::Seconds(1));
  }
  // Within the lease everything stays.
  EXPECT_THAT(PutMiB(4), StatusIs(StatusCode::kResourceExhausted,
                                  "used within the lease"));
  // Use: 0 becomes the youngest.
  ASSERT_OK(store().Find(kOwner, Token(0), "").status());
  Later(absl::Minutes(10));
  ASSERT_OK(PutMiB(4));
  EXPECT_TRUE(Has(0));
  EXPECT_FALSE(Has(1));
  EXPECT_TRUE(Has(2));
  EXPECT_TRUE(Has(3));
  EXPECT_EQ(store().statistics().evicted_datasets, 1);
  EXPECT_EQ(store().statistics().evicted_bytes, kMiB);
  // What was evicted can be put again, and is all there.
  Later(absl::Minutes(10));
  ASSERT_OK(PutMiB(1));
  auto again = LoadArray(store(), kOwner, Token(1));
  ASSERT_OK(again);
  EXPECT_EQ(BytesOf(*again), BytesOf(SomeBytes(kMiB, 1)));
}

TEST_P(RetentionTest, ManyMoreThanFitComeAndGo) {
  DatasetStoreOptions options = FourMiB();
  options.lease = absl::ZeroDuration();
  Reopen(options);
  for (int seed = 0; seed < 32; ++seed) {
    ASSERT_OK(PutMiB(seed)) << seed;
    Later(absl::Seconds(1));
    EXPECT_LE(store().statistics().disk_bytes, 8 * kMiB);
  }
  EXPECT_TRUE(Has(31));
  EXPECT_FALSE(Has(0));
  store().Stop(absl::InfiniteFuture());
  EXPECT_LE(store().statistics().disk_bytes, 4 * kMiB);
  EXPECT_LE(store().statistics().datasets, 4);
}

TEST_P(RetentionTest, APinHoldsUntilItsTimeIsOver) {
  DatasetStoreOptions options = FourMiB();
  options.lease = absl::ZeroDuration();
  Reopen(options);
  for (int seed = 0; seed < 4; ++seed) {
    ASSERT_OK(PutMiB(seed));
    Later(absl::Seconds(1));
  }
  for (int seed = 0; seed < 3; ++seed) {
    ASSERT_OK(Pin(store(), kOwner, Token(seed), absl::Hours(1)));
  }
  auto info = Pin(store(), kOwner, Token(3), absl::InfiniteDuration());
  ASSERT_OK(info);
  EXPECT_EQ(info->pinned_until, absl::InfiniteFuture());
  EXPECT_THAT(PutMiB(4), StatusIs(StatusCode::kResourceExhausted,
                                  "datasets that are "
                                  "pinned"));
  EXPECT_EQ(store().Usage(kOwner).pinned_bytes, 4 * kMiB);
  Later(absl::Hours(1));
  ASSERT_OK(PutMiB(4));
  EXPECT_FALSE(Has(0));
  EXPECT_TRUE(Has(3));
  // Unpinned, it is the oldest.
  info = Pin(store(), kOwner, Token(3), absl::ZeroDuration());
  ASSERT_OK(info);
  EXPECT_EQ(info->pinned_until, absl::InfinitePast());
  for (int seed = 5; seed < 8; ++seed) {
    Later(absl::Seconds(1));
    ASSERT_OK(PutMiB(seed));
  }
  EXPECT_FALSE(Has(3));
  EXPECT_THAT(Pin(store(), kOwner, Token(3), absl::Hours(1)),
              StatusIs(StatusCode::kNotFound, Token(3)));
  EXPECT_THAT(Pin(store(), "you", Token(7), absl::Hours(1)),
              StatusIs(StatusCode::kNotFound, Token(7)));
}

TEST_P(RetentionTest, AQuotaIsATenantsOwn) {
  DatasetStoreOptions options;
  options.tenant_bytes = 2 * kMiB;
  Reopen(options);
  ASSERT_OK(PutMiB(0));
  ASSERT_OK(PutMiB(1));
  EXPECT_THAT(PutMiB(2), StatusIs(StatusCode::kResourceExhausted,
                                  "'s quota of 2097152 bytes"));
  // Another tenant has one of its own, and shared bytes count for both.
  ASSERT_OK(PutMiB(1, "you"));
  EXPECT_EQ(store().Usage("you").bytes, kMiB);
  EXPECT_EQ(store().Usage(kOwner).bytes, 2 * kMiB);
  EXPECT_EQ(store().Usage(kOwner).max_bytes, 2 * kMiB);
  // Room is made from one's own.
  Later(absl::Hours(1));
  ASSERT_OK(PutMiB(3));
  EXPECT_TRUE(Has(1, "you"));
  EXPECT_EQ(Has(0) + Has(1), 1);
  store().Stop(absl::InfiniteFuture());
  EXPECT_EQ(store().Usage(kOwner).bytes, 2 * kMiB);
}

TEST_P(RetentionTest, ADatasetLargerThanTheQuotaLeavesTheOthersAlone) {
  DatasetStoreOptions options;
  options.tenant_bytes = 2 * kMiB;
  Reopen(options);
  ASSERT_OK(PutMiB(0));
  EXPECT_THAT(Put(store(), kOwner, Alone(SomeBytes(3 * kMiB, 9))).status(),
              StatusIs(StatusCode::kResourceExhausted, "quota"));
  EXPECT_TRUE(Has(0));
}

// F14d: tiny datasets take kilobytes each, and there was no end to them.
TEST_P(RetentionTest, ThereIsAQuotaOfDatasetsByDefault) {
  Reopen({});
  EXPECT_EQ(store().Usage(kOwner).max_datasets, 100'000);
}

TEST_P(RetentionTest, ThereIsAQuotaOfDatasets) {
  DatasetStoreOptions options;
  options.tenant_datasets = 2;
  Reopen(options);
  ASSERT_OK(PutMiB(0));
  Later(absl::Seconds(1));
  ASSERT_OK(PutMiB(1));
  ASSERT_OK(PutMiB(1)) << "the same one again is no third";
  EXPECT_THAT(PutMiB(2),
              StatusIs(StatusCode::kResourceExhausted, "quota of 2 datasets"));
  Later(absl::Hours(1));
  ASSERT_OK(PutMiB(2));
  EXPECT_FALSE(Has(0));
  EXPECT_TRUE(Has(1));
  EXPECT_EQ(store().Usage(kOwner).datasets, 2);
}

TEST_P(RetentionTest, ChunksThatOthersNameAreNoReasonToGo) {
  DatasetStoreOptions options = FourMiB();
  options.lease = absl::ZeroDuration();
  Reopen(options);
  // `both` holds the arrays of 0 and 1, so that neither frees anything alone.
  ASSERT_OK(PutMiB(0));
  ASSERT_OK(PutMiB(1));
  ASSERT_OK(PutMiB(1, "you"));
  DatasetSource both;
  both.arrays.push_back({"a", SomeBytes(kMiB, 0)});
  both.arrays.push_back({"b", SomeBytes(kMiB, 1)});
  auto info = Put(store(), kOwner, both);
  ASSERT_OK(info);
  ASSERT_OK(Pin(store(), kOwner, info->token, absl::InfiniteDuration()));
  ASSERT_OK(PutMiB(2));
  ASSERT_OK(PutMiB(3));
  Later(absl::Seconds(1));
  ASSERT_OK(PutMiB(4));
  EXPECT_TRUE(Has(0));
  EXPECT_TRUE(Has(1));
  EXPECT_TRUE(Has(1, "you"));
  EXPECT_EQ(Has(2) + Has(3), 1);
}

TEST_P(RetentionTest, EvictionTellsWhoeverHoldsArrays) {
  DatasetStoreOptions options = FourMiB();
  options.lease = absl::ZeroDuration();
  Reopen(options);
  int told = 0;
  store().OnEvicted([&] { ++told; });
  for (int seed = 0; seed < 4; ++seed) ASSERT_OK(PutMiB(seed));
  EXPECT_EQ(told, 0);
  ASSERT_OK(PutMiB(4));
  EXPECT_EQ(told, 1);
}

INSTANTIATE_TEST_SUITE_P(Where, RetentionTest, ::testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "OnDisk" : "InMemory";
                         });

class DiskRetentionTest : public StoreTest {};

TEST_F(DiskRetentionTest, TheReserveOfTheFileSystemIsKept) {
  DatasetStoreOptions options;
  options.disk_reserve = int64_t{1} << 60;
  Open(options);
  EXPECT_THAT(Put(store(), kOwner, Alone(SomeBytes(100))).status(),
              StatusIs(StatusCode::kResourceExhausted,
                       "disk reserve of 1152921504606846976 bytes"));
}

TEST_F(DiskRetentionTest, WhatIsNotDurableYetIsNotEvicted) {
  DatasetStoreOptions options;
  options.lease = absl::ZeroDuration();
  options.tenant_bytes = kMiB;
  Open(options);
  const DatasetSource first = Alone(SomeBytes(kMiB, 1));
  ASSERT_OK(PutChunks(store(), kOwner, first));
  ASSERT_OK(Commit(store(), kOwner, ManifestOf(first, 1), false));
  // Either it is durable by now and gone, or it is not and stays.
  const absl::Status second =
      Put(store(), kOwner, Alone(SomeBytes(kMiB, 2))).status();
  EXPECT_EQ(second.ok(),
            !store().Stat(kOwner, TokenOf(ManifestOf(first, 1))).ok());
}

TEST_F(DiskRetentionTest, PinsAndLastUseOutliveARestart) {
  DatasetStoreOptions options;
  Open(options);
  auto pinned = Put(store(), kOwner, Alone(SomeBytes(10, 1)));
  auto for_ever = Put(store(), kOwner, Alone(SomeBytes(10, 2)));
  auto loose = Put(store(), kOwner, Alone(SomeBytes(10, 3)));
  ASSERT_OK(pinned);
  ASSERT_OK(for_ever);
  ASSERT_OK(loose);
  const absl::Time until = now_ + absl::Hours(5);
  ASSERT_OK(Pin(store(), kOwner, pinned->token, absl::Hours(5)));
  ASSERT_OK(Pin(store(), kOwner, for_ever->token, absl::InfiniteDuration()));
  now_ += absl::Hours(1);
  ASSERT_OK(store().Find(kOwner, loose->token, "").status());
  const absl::Time used = now_;
  store().Sweep();
  now_ += absl::Hours(1);
  Open(options);
  EXPECT_EQ(store().Stat(kOwner, pinned->token)->pinned_until, until);
  EXPECT_EQ(store().Stat(kOwner, for_ever->token)->pinned_until,
            absl::InfiniteFuture());
  EXPECT_EQ(store().Stat(kOwner, loose->token)->pinned_until,
            absl::InfinitePast());
  EXPECT_EQ(store().Stat(kOwner, loose->token)->last_used, used);
}

TEST_F(DiskRetentionTest, TheScrubberFindsABadFileAndItIsHealedFromMemory) {
  DatasetStoreOptions options;
  options.scrub_bytes_per_second = kMiB;
  Open(options);
  const DatasetSource source = Alone(SomeBytes(kMiB, 1));
  auto info = Put(store(), kOwner, source);
  ASSERT_OK(info);
  const std::string path = folder_.Find("chunks", "").at(0);
  std::string bytes = ReadWhole(path);
  bytes[bytes.size() - 7] ^= 1;
  WriteWhole(path, bytes);
  store().Sweep();  // the time counts from here
  while (store().statistics().verified_bytes < kMiB) {
    now_ += absl::Seconds(5);
    store().Sweep();
  }
  EXPECT_EQ(store().statistics().bad_files, 1);
  // Written again, since it still is in memory.
  now_ += absl::Minutes(1);
  store().Sweep();
  store().Stop(absl::InfiniteFuture());
  EXPECT_GE(store().statistics().verified_bytes, kMiB);
  EXPECT_EQ(folder_.Find("chunks", ".bad").size(), 1);
  Open({});
  auto loaded = LoadArray(store(), kOwner, info->token);
  ASSERT_OK(loaded);
  EXPECT_EQ(BytesOf(*loaded), BytesOf(source.arrays[0].value));
}

TEST_F(DiskRetentionTest, TheScrubberKeepsToItsRate) {
  DatasetStoreOptions options;
  options.scrub_bytes_per_second = kMiB;
  Open(options);
  ASSERT_OK(Put(store(), kOwner, Alone(SomeBytes(64 * kMiB, 1))));
  store().Sweep();
  for (int second = 0; second < 30; ++second) {
    now_ += absl::Seconds(1);
    store().Sweep();
  }
  store().Stop(absl::InfiniteFuture());
  EXPECT_LE(store().statistics().verified_bytes, 30 * kMiB);
}

// The file of a chunk names who sent it first, also when only another tenant
// still has it.
TEST_F(StoreTest, ARestartChargesNobodyForWhatAnotherKeeps) {
  const DatasetSource shared = Alone(SomeBytes(kMiB, 1));
  Open({.tenant_bytes = kMiB});
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info, Put(store(), "a", shared));
  ASSERT_OK(Put(store(), "b", shared));
  Promise<bool> deleted;
  store().Delete("a", info.token,
                 [&](const absl::Status&) { deleted.Set(true); });
  ASSERT_OK(deleted.future().Await());
  ASSERT_OK(Put(store(), "a", Alone(SomeBytes(kMiB, 2))));
  Open({.tenant_bytes = kMiB});
  for (const char* tenant : {"a", "b"}) {
    EXPECT_EQ(store().Usage(tenant).bytes, kMiB);
    EXPECT_EQ(store().Usage(tenant).upload_bytes, 0);
    EXPECT_EQ(store().Usage(tenant).datasets, 1);
  }
}

}  // namespace
}  // namespace hawser::server
